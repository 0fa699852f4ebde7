package dev.kvasir.grammar;

import static dev.kvasir.grammar.GrammarExpression.sequence;

import dev.kvasir.error.InvalidInputException;

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
}
