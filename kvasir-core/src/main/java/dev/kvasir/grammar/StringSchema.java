package dev.kvasir.grammar;

import static dev.kvasir.grammar.GrammarExpression.sequence;

import dev.kvasir.error.InvalidInputException;
import java.util.Map;

/** The grammar of a schema's strings: by length, pattern or format. */
final class StringSchema {
  private static final GrammarExpression CHARACTER =
      GrammarExpression.asRule(JsonExpressions.CHARACTER);

  static GrammarExpression of(Schema schema) {
    boolean hasFormat = schema.has("format") && StringFormat.isKnown(schema.string("format"));
    boolean hasPattern = schema.has("pattern");
    boolean hasLength = schema.hasAny("minLength", "maxLength");
    if ((hasFormat ? 1 : 0) + (hasPattern ? 1 : 0) + (hasLength ? 1 : 0) > 1) {
      throw new InvalidInputException(
          "the string at %s has several of a length, a pattern and a format; expected one"
              .formatted(schema.pointer()));
    }
    if (hasFormat) {
      return quoted(StringFormat.of(schema.string("format")));
    }
    if (hasPattern) {
      return quoted(RegexParser.read(schema.string("pattern"), schema.pointer()));
    }
    return hasLength ? quoted(ofLength(schema)) : JsonExpressions.STRING;
  }

  private static GrammarExpression ofLength(Schema schema) {
    int min = schema.count("minLength", 0);
    int max = schema.count("maxLength", GrammarExpression.UNBOUNDED);
    if (max < min) {
      throw schema.refusal("maxLength", "expected 'minLength' or more, which is " + min);
    }
    return GrammarExpression.repeat(CHARACTER, min, max);
  }

  private static GrammarExpression quoted(GrammarExpression inside) {
    return GrammarExpression.asRule(sequence(JsonExpressions.QUOTE, inside, JsonExpressions.QUOTE));
  }

  private StringSchema() {}

  /** The string formats that are enforced; other formats are annotations. */
  private static final class StringFormat {
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
  }
}
