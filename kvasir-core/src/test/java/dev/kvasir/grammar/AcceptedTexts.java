package dev.kvasir.grammar;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.charset.StandardCharsets;

/** The texts that a grammar accepts, parsed byte by byte. */
final class AcceptedTexts {
  private final ParserStates states;

  private AcceptedTexts(Grammar grammar) {
    this.states = new ParserStates(grammar.automaton());
  }

  static AcceptedTexts of(Grammar grammar) {
    return new AcceptedTexts(grammar);
  }

  /** Returns the texts of a schema in JSON with optional single quotes. */
  static AcceptedTexts ofSchema(String schema) {
    return of(JsonGrammar.of(schema(schema)));
  }

  static JsonObject schema(String json) {
    return JsonParser.parseString(json).getAsJsonObject();
  }

  boolean contains(String text) {
    return contains(text.getBytes(StandardCharsets.UTF_8));
  }

  boolean contains(byte[] bytes) {
    ParserState parserState = states.start();
    for (byte value : bytes) {
      parserState = states.advance(parserState, value & 0xFF);
    }
    return parserState.isAccepting();
  }

  boolean hasPrefix(String text) {
    ParserState parserState = states.start();
    for (byte value : text.getBytes(StandardCharsets.UTF_8)) {
      parserState = states.advance(parserState, value & 0xFF);
    }
    return !parserState.isDead;
  }
}
