package dev.kvasir.grammar;

import dev.kvasir.sampling.TokenConstraint;
import java.util.Arrays;

/**
 * Follows one generation through a grammar. After an end-of-text token, only such tokens are
 * allowed.
 */
final class GrammarConstraint implements TokenConstraint {
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
