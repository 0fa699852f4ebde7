package dev.kvasir.grammar;

import static dev.kvasir.grammar.Expression.sequence;

import dev.kvasir.error.InvalidInputException;

/** Strings of a schema: of a length, of a pattern, or of a format. */
final class StringText {
  private static final Expression CHARACTER = Expression.named(JsonText.CHARACTER);

  static Expression of(Schema schema) {
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
      return quoted(RegularPattern.read(schema.string("pattern"), schema.pointer()));
    }
    return hasLength ? quoted(ofLength(schema)) : JsonText.STRING;
  }

  private static Expression ofLength(Schema schema) {
    int least = schema.count("minLength", 0);
    int most = schema.count("maxLength", Expression.ENDLESS);
    if (most < least) {
      throw schema.refusal("maxLength", "expected 'minLength' or more, which is " + least);
    }
    return Expression.repeat(CHARACTER, least, most);
  }

  private static Expression quoted(Expression inside) {
    return Expression.named(sequence(JsonText.QUOTE, inside, JsonText.QUOTE));
  }

  private StringText() {}
}
