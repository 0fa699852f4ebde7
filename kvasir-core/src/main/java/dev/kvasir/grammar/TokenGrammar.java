package dev.kvasir.grammar;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.sampling.TokenConstraint;
import dev.kvasir.text.Tokenizer;
import java.util.Arrays;

/**
 * A grammar over a model's tokens. Its parser states and token masks are cached for all
 * generations, up to a limit, so reuse an instance. This class is thread-safe.
 */
public final class TokenGrammar {
  private static final long MAX_MASK_BYTES = 32 << 20;

  private final Tokenizer tokenizer;
  private final TokenTrie trie;
  private final ParserStates states;
  private long maskBytes;

  TokenGrammar(Automaton automaton, Tokenizer tokenizer) {
    this.tokenizer = tokenizer;
    this.trie = TokenTrie.of(tokenizer);
    if (!trie.hasEndTokens()) {
      throw new InvalidInputException(
          "the tokenizer names no token that ends a text; a grammar needs one");
    }
    this.states = new ParserStates(automaton);
  }

  /** Returns a constraint for one generation, from its first token on. */
  public TokenConstraint constraint() {
    return new GrammarConstraint(this);
  }

  ParserState start() {
    return states.start();
  }

  /** Returns one bit per allowed token. */
  synchronized long[] tokenMask(ParserState parserState) {
    if (parserState.tokenMask == null) {
      evictIfFull();
      parserState.tokenMask = trie.allowed(states, parserState);
      maskBytes += 8L * parserState.tokenMask.length;
    }
    return parserState.tokenMask;
  }

  private void evictIfFull() {
    states.trim();
    if (maskBytes > MAX_MASK_BYTES) {
      states.clear();
      maskBytes = 0;
    }
  }

  synchronized ParserState advance(ParserState parserState, int token) {
    long[] allowed = tokenMask(parserState);
    if (token < 0 || token >= 64 * allowed.length || (allowed[token >> 6] >> token & 1) == 0) {
      throw new IllegalArgumentException("token %d may not come here".formatted(token));
    }
    if (trie.isEndToken(token)) {
      return states.finished();
    }
    ParserState at = parserState;
    for (byte value : TokenTrie.bytes(tokenizer, token)) {
      at = states.advance(at, value & 0xFF);
    }
    return at;
  }

  /**
   * Follows one generation through a grammar. After an end-of-text token, only such tokens are
   * allowed.
   */
  private static final class GrammarConstraint implements TokenConstraint {
    private final TokenGrammar grammar;
    private ParserState parserState;

    GrammarConstraint(TokenGrammar grammar) {
      this.grammar = grammar;
      this.parserState = grammar.start();
    }

    @Override
    public void mask(float[] logits, int at, int vocabulary) {
      long[] allowed = grammar.tokenMask(parserState);
      int end = at + vocabulary;
      for (int word = 0, from = at; from < end; word++, from += Long.SIZE) {
        long bits = word < allowed.length ? allowed[word] : 0;
        int to = Math.min(from + Long.SIZE, end);
        if (bits == 0) {
          Arrays.fill(logits, from, to, Float.NEGATIVE_INFINITY);
        } else if (bits != -1) {
          for (int i = from; i < to; i++) {
            if ((bits >>> i - from & 1) == 0) {
              logits[i] = Float.NEGATIVE_INFINITY;
            }
          }
        }
      }
    }

    @Override
    public void accept(int token) {
      parserState = grammar.advance(parserState, token);
    }
  }
}
