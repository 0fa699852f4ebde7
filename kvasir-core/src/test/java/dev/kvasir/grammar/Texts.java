package dev.kvasir.grammar;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.charset.StandardCharsets;

/** The texts of a grammar, read byte by byte. */
final class Texts {
  private final Places places;

  private Texts(Grammar grammar) {
    this.places = new Places(grammar.automaton());
  }

  static Texts of(Grammar grammar) {
    return new Texts(grammar);
  }

  /** Of a schema in JSON that may have single quotes. */
  static Texts ofSchema(String schema) {
    return of(JsonGrammar.of(schema(schema)));
  }

  static JsonObject schema(String json) {
    return JsonParser.parseString(json).getAsJsonObject();
  }

  boolean has(String text) {
    return has(text.getBytes(StandardCharsets.UTF_8));
  }

  boolean has(byte[] bytes) {
    Place place = places.start();
    for (byte value : bytes) {
      place = places.after(place, value & 0xFF);
    }
    return place.isText();
  }

  boolean hasBeginning(String text) {
    Place place = places.start();
    for (byte value : text.getBytes(StandardCharsets.UTF_8)) {
      place = places.after(place, value & 0xFF);
    }
    return !place.isDead;
  }
}
