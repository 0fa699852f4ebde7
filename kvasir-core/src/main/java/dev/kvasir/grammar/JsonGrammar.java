package dev.kvasir.grammar;

import com.google.gson.JsonObject;

/** Grammars of JSON. What of a schema is held to, and what is refused: docs/grammar.md. */
public final class JsonGrammar {
  /** Values that a schema accepts, its members in the schema's order. */
  public static Grammar of(JsonObject schema) {
    return new Grammar(SchemaGrammar.of(schema));
  }

  /** Any object. */
  public static Grammar anyObject() {
    return new Grammar(JsonExpressions.OBJECT);
  }

  private JsonGrammar() {}
}
