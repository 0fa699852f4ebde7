package dev.kvasir.grammar;

import static dev.kvasir.grammar.GrammarExpression.choice;
import static dev.kvasir.grammar.GrammarExpression.literal;
import static dev.kvasir.grammar.GrammarExpression.optional;
import static dev.kvasir.grammar.GrammarExpression.repeat;
import static dev.kvasir.grammar.GrammarExpression.sequence;

import com.google.gson.JsonElement;
import com.google.gson.JsonPrimitive;
import dev.kvasir.error.InvalidInputException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The elements of JSON. One space may follow a comma or a colon; other white space is not allowed,
 * since small models get lost in spaces and line breaks. Numbers have a limited number of digits.
 */
final class JsonExpressions {
  private static final int INTEGER_DIGITS = 18; // fits a long
  private static final int FRACTION_DIGITS = 17; // precision of a double
  private static final int EXPONENT_DIGITS = 2; // within the range of a double

  static final CodePoints DIGITS = CodePoints.range('0', '9');
  private static final CodePoints HEX =
      DIGITS.or(CodePoints.range('a', 'f')).or(CodePoints.range('A', 'F'));
  private static final CodePoints CONTROLS = CodePoints.range(0, 0x1F);
  private static final CodePoints MUST_BE_ESCAPED = CONTROLS.or(CodePoints.of("\"\\"));

  /** Characters that need no escape in a string. */
  static final CodePoints PLAIN = CodePoints.ALL.minus(MUST_BE_ESCAPED);

  private static final Pattern WRITTEN_NUMBER =
      Pattern.compile("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?");

  static final GrammarExpression QUOTE = literal("\"");
  static final GrammarExpression COMMA = sequence(literal(","), optional(literal(" ")));
  static final GrammarExpression COLON = sequence(literal(":"), optional(literal(" ")));

  /** One character of a string, escaped or not. */
  static final GrammarExpression CHARACTER =
      choice(characterClass(PLAIN), sequence(literal("\\"), escaped()));

  static final GrammarExpression STRING =
      GrammarExpression.asRule(
          sequence(QUOTE, repeat(CHARACTER, 0, GrammarExpression.UNBOUNDED), QUOTE));

  static final GrammarExpression NULL = literal("null");
  static final GrammarExpression BOOLEAN = choice(literal("true"), literal("false"));
  static final GrammarExpression INTEGER =
      GrammarExpression.asRule(choice(literal("0"), sequence(optional(literal("-")), fromOne())));
  static final GrammarExpression NUMBER =
      GrammarExpression.asRule(
          sequence(
              optional(literal("-")),
              choice(literal("0"), fromOne()),
              optional(fraction()),
              optional(exponent())));

  private static final Rule VALUE_RULE = new Rule();
  static final GrammarExpression VALUE = new GrammarExpression.Call(VALUE_RULE);
  static final GrammarExpression OBJECT =
      GrammarExpression.asRule(
          sequence(literal("{"), list(sequence(STRING, COLON, VALUE)), literal("}")));
  static final GrammarExpression ARRAY =
      GrammarExpression.asRule(sequence(literal("["), list(VALUE), literal("]")));

  static {
    VALUE_RULE.define(choice(OBJECT, ARRAY, STRING, NUMBER, BOOLEAN, NULL));
  }

  static GrammarExpression characterClass(CodePoints points) {
    return new GrammarExpression.CharacterClass(points);
  }

  /** Returns any number of items, separated by commas. */
  static GrammarExpression list(GrammarExpression item) {
    GrammarExpression further = repeat(sequence(COMMA, item), 0, GrammarExpression.UNBOUNDED);
    return optional(sequence(item, further));
  }

  /** Returns one of these characters in a string, with the shortest escape if it needs one. */
  static GrammarExpression inString(CodePoints points) {
    List<GrammarExpression> ways = new ArrayList<>();
    CodePoints plain = points.and(PLAIN);
    if (!plain.isEmpty()) {
      ways.add(characterClass(plain));
    }
    for (CodePoints.Range range : points.and(MUST_BE_ESCAPED).ranges()) {
      for (int c = range.first(); c <= range.last(); c++) {
        ways.add(literal(escape(c)));
      }
    }
    return new GrammarExpression.Choice(ways);
  }

  /** Returns this value, with optional spaces after commas and colons. */
  static GrammarExpression exactly(JsonElement value) {
    if (value.isJsonArray()) {
      List<GrammarExpression> items =
          value.getAsJsonArray().asList().stream().map(JsonExpressions::exactly).toList();
      return sequence(literal("["), GrammarExpression.joined(items, COMMA), literal("]"));
    }
    if (value.isJsonObject()) {
      List<GrammarExpression> members =
          value.getAsJsonObject().entrySet().stream()
              .map(each -> sequence(name(each.getKey()), COLON, exactly(each.getValue())))
              .toList();
      return sequence(literal("{"), GrammarExpression.joined(members, COMMA), literal("}"));
    }
    if (value instanceof JsonPrimitive primitive && primitive.isNumber()) {
      return number(primitive.getAsString());
    }
    boolean isString = value instanceof JsonPrimitive primitive && primitive.isString();
    return isString ? name(value.getAsString()) : literal(value.toString());
  }

  private static GrammarExpression number(String written) {
    if (!WRITTEN_NUMBER.matcher(written).matches()) {
      throw new InvalidInputException(
          "the schema names the value %s; expected a number that JSON can write"
              .formatted(written));
    }
    return literal(written);
  }

  /** Returns a fixed string. */
  static GrammarExpression name(String text) {
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

  /** Returns what follows a backslash: a letter, a code unit, or a surrogate pair. */
  private static GrammarExpression escaped() {
    GrammarExpression hex = characterClass(HEX);
    GrammarExpression d = characterClass(CodePoints.of("dD"));
    GrammarExpression notD = characterClass(HEX.minus(CodePoints.of("dD")));
    GrammarExpression low = characterClass(CodePoints.range('0', '7'));
    GrammarExpression whole = choice(sequence(notD, hex, hex, hex), sequence(d, low, hex, hex));
    GrammarExpression pair =
        sequence(
            d,
            characterClass(CodePoints.of("89abAB")),
            hex,
            hex,
            literal("\\u"),
            d,
            characterClass(CodePoints.of("cdefCDEF")),
            hex,
            hex);
    return choice(
        characterClass(CodePoints.of("\"\\/bfnrt")), sequence(literal("u"), choice(whole, pair)));
  }

  private static GrammarExpression fromOne() {
    return sequence(
        characterClass(CodePoints.range('1', '9')),
        repeat(characterClass(DIGITS), 0, INTEGER_DIGITS - 1));
  }

  private static GrammarExpression fraction() {
    return sequence(literal("."), repeat(characterClass(DIGITS), 1, FRACTION_DIGITS));
  }

  private static GrammarExpression exponent() {
    return sequence(
        characterClass(CodePoints.of("eE")),
        optional(characterClass(CodePoints.of("+-"))),
        repeat(characterClass(DIGITS), 1, EXPONENT_DIGITS));
  }

  private JsonExpressions() {}
}
