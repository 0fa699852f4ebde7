package dev.kvasir.grammar;

import static dev.kvasir.grammar.Expression.choice;
import static dev.kvasir.grammar.Expression.literal;
import static dev.kvasir.grammar.Expression.optional;
import static dev.kvasir.grammar.Expression.repeat;
import static dev.kvasir.grammar.Expression.sequence;

import com.google.gson.JsonElement;
import com.google.gson.JsonPrimitive;
import dev.kvasir.error.InvalidInputException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * What JSON is made of. One space may follow a comma or a colon, and no other space may stand
 * between parts: a small model loses its way in spaces and lines. Numbers have bounded digits.
 */
final class JsonText {
  private static final int INTEGER_DIGITS = 18; // what a long holds
  private static final int FRACTION_DIGITS = 17; // what a double tells apart
  private static final int EXPONENT_DIGITS = 2; // stays within doubles

  static final CodePoints DIGITS = CodePoints.range('0', '9');
  private static final CodePoints HEX =
      DIGITS.or(CodePoints.range('a', 'f')).or(CodePoints.range('A', 'F'));
  private static final CodePoints CONTROLS = CodePoints.range(0, 0x1F);
  private static final CodePoints MUST_BE_ESCAPED = CONTROLS.or(CodePoints.of("\"\\"));

  /** Characters of which a string may hold the bytes. */
  static final CodePoints PLAIN = CodePoints.ALL.minus(MUST_BE_ESCAPED);

  private static final Pattern WRITTEN_NUMBER =
      Pattern.compile("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?");

  static final Expression QUOTE = literal("\"");
  static final Expression COMMA = sequence(literal(","), optional(literal(" ")));
  static final Expression COLON = sequence(literal(":"), optional(literal(" ")));

  /** One character of a string, in any of the ways that it can be written. */
  static final Expression CHARACTER = choice(oneOf(PLAIN), sequence(literal("\\"), escaped()));

  static final Expression STRING =
      Expression.named(sequence(QUOTE, repeat(CHARACTER, 0, Expression.ENDLESS), QUOTE));

  static final Expression NULL = literal("null");
  static final Expression BOOLEAN = choice(literal("true"), literal("false"));
  static final Expression INTEGER =
      Expression.named(choice(literal("0"), sequence(optional(literal("-")), fromOne())));
  static final Expression NUMBER =
      Expression.named(
          sequence(
              optional(literal("-")),
              choice(literal("0"), fromOne()),
              optional(fraction()),
              optional(exponent())));

  private static final Rule VALUE_RULE = new Rule();
  static final Expression VALUE = new Expression.Call(VALUE_RULE);
  static final Expression OBJECT =
      Expression.named(sequence(literal("{"), list(sequence(STRING, COLON, VALUE)), literal("}")));
  static final Expression ARRAY =
      Expression.named(sequence(literal("["), list(VALUE), literal("]")));

  static {
    VALUE_RULE.define(choice(OBJECT, ARRAY, STRING, NUMBER, BOOLEAN, NULL));
  }

  static Expression oneOf(CodePoints points) {
    return new Expression.OneOf(points);
  }

  /** Any number of items with commas between them. */
  static Expression list(Expression item) {
    Expression further = repeat(sequence(COMMA, item), 0, Expression.ENDLESS);
    return optional(sequence(item, further));
  }

  /** One of these characters in a string: plain where it may be, else in its shortest escape. */
  static Expression inString(CodePoints points) {
    List<Expression> ways = new ArrayList<>();
    CodePoints plain = points.and(PLAIN);
    if (!plain.isEmpty()) {
      ways.add(oneOf(plain));
    }
    for (CodePoints.Range range : points.and(MUST_BE_ESCAPED).ranges()) {
      for (int c = range.first(); c <= range.last(); c++) {
        ways.add(literal(escape(c)));
      }
    }
    return new Expression.Choice(ways);
  }

  /** A value as it stands, but for the space that may follow commas and colons. */
  static Expression exactly(JsonElement value) {
    if (value.isJsonArray()) {
      List<Expression> items =
          value.getAsJsonArray().asList().stream().map(JsonText::exactly).toList();
      return sequence(literal("["), Expression.joined(items, COMMA), literal("]"));
    }
    if (value.isJsonObject()) {
      List<Expression> members =
          value.getAsJsonObject().entrySet().stream()
              .map(each -> sequence(name(each.getKey()), COLON, exactly(each.getValue())))
              .toList();
      return sequence(literal("{"), Expression.joined(members, COMMA), literal("}"));
    }
    if (value instanceof JsonPrimitive primitive && primitive.isNumber()) {
      return number(primitive.getAsString());
    }
    boolean isString = value instanceof JsonPrimitive primitive && primitive.isString();
    return isString ? name(value.getAsString()) : literal(value.toString());
  }

  private static Expression number(String written) {
    if (!WRITTEN_NUMBER.matcher(written).matches()) {
      throw new InvalidInputException(
          "the schema names the value %s; expected a number that JSON can write"
              .formatted(written));
    }
    return literal(written);
  }

  /** A string that is known. */
  static Expression name(String text) {
    StringBuilder written = new StringBuilder("\"");
    text.codePoints()
        .forEach(
            c -> {
              if (MUST_BE_ESCAPED.contains(c)) {
                written.append(escape(c));
              } else {
                written.appendCodePoint(c);
              }
            });
    return literal(written.append('"').toString());
  }

  private static String escape(int codePoint) {
    return switch (codePoint) {
      case '"' -> "\\\"";
      case '\\' -> "\\\\";
      case '\b' -> "\\b";
      case '\f' -> "\\f";
      case '\n' -> "\\n";
      case '\r' -> "\\r";
      case '\t' -> "\\t";
      default -> "\\u%04x".formatted(codePoint);
    };
  }

  /** What follows a backslash: a letter, or the four digits of a character, or of both halves. */
  private static Expression escaped() {
    Expression hex = oneOf(HEX);
    Expression d = oneOf(CodePoints.of("dD"));
    Expression notD = oneOf(HEX.minus(CodePoints.of("dD")));
    Expression low = oneOf(CodePoints.range('0', '7'));
    Expression whole = choice(sequence(notD, hex, hex, hex), sequence(d, low, hex, hex));
    Expression pair =
        sequence(
            d,
            oneOf(CodePoints.of("89abAB")),
            hex,
            hex,
            literal("\\u"),
            d,
            oneOf(CodePoints.of("cdefCDEF")),
            hex,
            hex);
    return choice(oneOf(CodePoints.of("\"\\/bfnrt")), sequence(literal("u"), choice(whole, pair)));
  }

  private static Expression fromOne() {
    return sequence(
        oneOf(CodePoints.range('1', '9')), repeat(oneOf(DIGITS), 0, INTEGER_DIGITS - 1));
  }

  private static Expression fraction() {
    return sequence(literal("."), repeat(oneOf(DIGITS), 1, FRACTION_DIGITS));
  }

  private static Expression exponent() {
    return sequence(
        oneOf(CodePoints.of("eE")),
        optional(oneOf(CodePoints.of("+-"))),
        repeat(oneOf(DIGITS), 1, EXPONENT_DIGITS));
  }

  private JsonText() {}
}
