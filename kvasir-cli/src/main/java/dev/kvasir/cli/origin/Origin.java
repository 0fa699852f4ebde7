package dev.kvasir.cli.origin;

import dev.kvasir.lab.report.Provenance;
import java.time.Instant;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine.Model.CommandSpec;

/** Tells where the figures of this process come from. */
public final class Origin {
  /** What every shell leaves as it is. */
  private static final Pattern PLAIN = Pattern.compile("[\\w@%+=:,./-]+");

  private Origin() {}

  public static Provenance of(CommandSpec spec) {
    List<String> arguments = spec.root().commandLine().getParseResult().originalArgs();
    return new Provenance(
        commandLine(arguments), Version.ofKvasir(), Checkout.commit(), Instant.now());
  }

  /** A command as it would have to be typed. */
  static String commandLine(List<String> arguments) {
    return arguments.stream().map(Origin::quoted).collect(Collectors.joining(" ", "kvasir ", ""));
  }

  private static String quoted(String argument) {
    return PLAIN.matcher(argument).matches()
        ? argument
        : "'" + argument.replace("'", "'\\''") + "'";
  }
}
