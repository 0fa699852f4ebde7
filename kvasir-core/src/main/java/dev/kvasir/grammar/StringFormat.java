package dev.kvasir.grammar;

import java.util.Map;

/** The string formats that are enforced; other formats are annotations. */
final class StringFormat {
  /** Valid days of each month, with 29 February in leap years only. */
  private static final String DATE =
      "(?:\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])"
          + "|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)"
          + "|02-(?:0[1-9]|1\\d|2[0-8]))"
          + "|(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)";

  /** RFC 3339, with offsets in use and without leap seconds. */
  private static final String TIME =
      "(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,9})?"
          + "(?:Z|[+-](?:0\\d|1[0-3]):[0-5]\\d))";

  private static final String HEX = "[0-9a-fA-F]";
  private static final String UUID = "%1$s{8}-%1$s{4}-%1$s{4}-%1$s{4}-%1$s{12}".formatted(HEX);

  private static final Map<String, String> PATTERNS =
      Map.of("date", DATE, "time", TIME, "date-time", DATE + "T" + TIME, "uuid", UUID);

  static boolean isKnown(String format) {
    return PATTERNS.containsKey(format);
  }

  /** Returns the contents of strings in a format. */
  static GrammarExpression of(String format) {
    return RegexParser.read("^" + PATTERNS.get(format) + "$", format);
  }

  private StringFormat() {}
}
