package dev.kvasir.grammar;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.sampling.TokenConstraint;
import dev.kvasir.text.Tokenizer;

/**
 * A grammar in a model's tokens. What was found out of places in its texts is kept for all
 * generations, up to a bound, so keep one that is used again. Safe to use from several threads.
 */
public final class TokenGrammar {
  private static final long MOST_MASK_BYTES = 32 << 20;

  private final Tokenizer tokenizer;
  private final TokenTrie trie;
  private final Places places;
  private long maskBytes;

  TokenGrammar(Automaton automaton, Tokenizer tokenizer) {
    this.tokenizer = tokenizer;
    this.trie = TokenTrie.of(tokenizer);
    if (!trie.hasEnds()) {
      throw new InvalidInputException(
          "the tokenizer names no token that ends a text; a grammar needs one");
    }
    this.places = new Places(automaton);
  }

  /** Holds one generation to the grammar, from its first token on. */
  public TokenConstraint constraint() {
    return new GrammarConstraint(this);
  }

  Place start() {
    return places.start();
  }

  /** A bit for each token that may come. */
  synchronized long[] tokens(Place place) {
    if (place.tokens == null) {
      makeRoom();
      place.tokens = trie.allowed(places, place);
      maskBytes += 8L * place.tokens.length;
    }
    return place.tokens;
  }

  private void makeRoom() {
    places.trim();
    if (maskBytes > MOST_MASK_BYTES) {
      places.forget();
      maskBytes = 0;
    }
  }

  synchronized Place after(Place place, int token) {
    long[] allowed = tokens(place);
    if (token < 0 || token >= 64 * allowed.length || (allowed[token >> 6] >> token & 1) == 0) {
      throw new IllegalArgumentException("token %d may not come here".formatted(token));
    }
    if (trie.isEnd(token)) {
      return places.end();
    }
    Place at = place;
    for (byte value : tokenizer.tokenBytes(token)) {
      at = places.after(at, value & 0xFF);
    }
    return at;
  }
}
