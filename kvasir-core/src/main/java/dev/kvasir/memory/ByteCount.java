package dev.kvasir.memory;

import dev.kvasir.error.InvalidInputException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses byte counts as users type them. */
public final class ByteCount {
  private static final Pattern TYPED = Pattern.compile("([0-9]+(?:\\.[0-9]+)?)(KiB|MiB|GiB|TiB)");

  private ByteCount() {}

  public static long parse(String name, String typed) {
    Matcher matcher = TYPED.matcher(typed);
    double bytes = matcher.matches() ? value(matcher) : 0;
    if (bytes < 1 || bytes > 1L << 50) {
      throw new InvalidInputException(
          "%s is '%s'; expected bytes, as in 512MiB or 2GiB".formatted(name, typed));
    }
    return (long) bytes;
  }

  private static double value(Matcher matcher) {
    double scale =
        switch (matcher.group(2)) {
          case "KiB" -> 0x1p10;
          case "MiB" -> 0x1p20;
          case "GiB" -> 0x1p30;
          default -> 0x1p40;
        };
    return Double.parseDouble(matcher.group(1)) * scale;
  }
}
