package dev.kvasir.cli.origin;

import dev.kvasir.lab.report.Provenance;
import java.time.Instant;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import picocli.CommandLine.Model.CommandSpec;

/** Tells where the figures of this process come from. */
public final class Origin {
  /** What every shell leaves as it is. */
  private static final Pattern PLAIN = Pattern.compile("[\\w@%+=:,./-]+");

  private static final String SETTING = "--conf";

  /** What Spark hides of settings as well, in their keys and in flags among their values. */
  private static final Pattern SECRET =
      Pattern.compile("secret|password|token|credential|access.?key", Pattern.CASE_INSENSITIVE);

  private Origin() {}

  public static Provenance of(CommandSpec spec) {
    List<String> arguments = spec.root().commandLine().getParseResult().originalArgs();
    return new Provenance(
        commandLine(arguments), Version.ofKvasir(), Checkout.commit(), Instant.now());
  }

  /** A command as it would have to be typed, but for secrets: documents are shown to others. */
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
   * @param setting KEY=VALUE, behind the option's own name where that is joined to it
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
