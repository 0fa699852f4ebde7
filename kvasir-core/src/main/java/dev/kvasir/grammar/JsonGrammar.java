package dev.kvasir.grammar;

import com.google.gson.JsonObject;

/** Grammars of JSON. The supported part of JSON Schema is in docs/grammar.md. */
public final class JsonGrammar {
  /** Returns the values that a schema accepts, with properties in the schema's order. */
  public static Grammar of(JsonObject schema) {
    return new Grammar(SchemaGrammar.of(schema));
  }

  /** Returns any JSON object. */
  public static Grammar anyObject() {
    return new Grammar(JsonExpressions.OBJECT);
  }

  private JsonGrammar() {}
}
