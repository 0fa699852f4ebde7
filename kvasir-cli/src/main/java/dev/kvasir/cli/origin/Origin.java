package dev.kvasir.cli.origin;

import dev.kvasir.lab.report.Provenance;
import java.time.Instant;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import picocli.CommandLine.Model.CommandSpec;

/** Creates the provenance of this process's results. */
public final class Origin {
  /** Arguments that need no quotes in any shell. */
  private static final Pattern PLAIN = Pattern.compile("[\\w@%+=:,./-]+");

  private static final String SETTING = "--conf";

  /** Settings that Spark redacts as well, by key or by a flag within the value. */
  private static final Pattern SECRET =
      Pattern.compile("secret|password|token|credential|access.?key", Pattern.CASE_INSENSITIVE);

  private Origin() {}

  public static Provenance of(CommandSpec spec) {
    List<String> arguments = spec.root().commandLine().getParseResult().originalArgs();
    return new Provenance(
        commandLine(arguments), Version.ofKvasir(), Checkout.commit(), Instant.now());
  }

  /** Returns the command as it can be typed again, with secrets redacted. */
  static String commandLine(List<String> arguments) {
    return IntStream.range(0, arguments.size())
        .mapToObj(i -> isSetting(arguments, i) ? open(arguments.get(i)) : arguments.get(i))
        .map(Origin::quoted)
        .collect(Collectors.joining(" ", "kvasir ", ""));
  }

  private static boolean isSetting(List<String> arguments, int index) {
    return arguments.get(index).startsWith(SETTING + "=")
        || index > 0 && arguments.get(index - 1).equals(SETTING);
  }

  /**
   * Redacts the value of a secret setting.
   *
   * @param setting KEY=VALUE, possibly prefixed with the joined option name
   */
  private static String open(String setting) {
    int key = setting.startsWith(SETTING + "=") ? SETTING.length() + 1 : 0;
    int value = setting.indexOf('=', key) + 1;
    return value > 0 && SECRET.matcher(setting).find()
        ? setting.substring(0, value) + "..."
        : setting;
  }

  private static String quoted(String argument) {
    return PLAIN.matcher(argument).matches()
        ? argument
        : "'" + argument.replace("'", "'\\''") + "'";
  }
}
