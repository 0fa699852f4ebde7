package dev.kvasir;

import java.util.List;

/**
 * What the text of a completion is constrained to. Where tools may be called, a call is allowed
 * too, except with {@link OneOf}.
 */
public sealed interface OutputFormat {
  /** Any text. */
  record AnyText() implements OutputFormat {}

  /** Any JSON object. */
  record JsonObject() implements OutputFormat {}

  /**
   * JSON that a schema accepts.
   *
   * @param schema a JSON Schema as JSON text; docs/grammar.md lists what is supported
   */
  record JsonSchema(String schema) implements OutputFormat {}

  /**
   * One of several texts.
   *
   * @param texts at least one, none of them empty
   */
  record OneOf(List<String> texts) implements OutputFormat {
    public OneOf {
      texts = List.copyOf(texts);
      if (texts.isEmpty() || texts.contains("")) {
        throw new IllegalArgumentException(
            "the texts are %s; expected at least one, none of them empty".formatted(texts));
      }
    }
  }

  /**
   * A text that a regular expression matches as a whole.
   *
   * @param pattern docs/grammar.md lists what is supported
   */
  record Regex(String pattern) implements OutputFormat {}

  /**
   * A text of a grammar.
   *
   * @param rules in llama.cpp's notation GBNF, with a rule {@code root}
   */
  record Gbnf(String rules) implements OutputFormat {}

  static OutputFormat anyText() {
    return new AnyText();
  }

  static OutputFormat jsonObject() {
    return new JsonObject();
  }

  static OutputFormat jsonSchema(String schema) {
    return new JsonSchema(schema);
  }

  static OutputFormat oneOf(List<String> texts) {
    return new OneOf(texts);
  }

  static OutputFormat regex(String pattern) {
    return new Regex(pattern);
  }

  static OutputFormat gbnf(String rules) {
    return new Gbnf(rules);
  }
}
