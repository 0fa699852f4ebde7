package dev.kvasir.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.sampling.TokenConstraint;
import dev.kvasir.text.Tokenizer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Generates random allowed tokens, and after a while those on the shortest path to the end. */
final class RandomGeneration {
  private static final int LONG = 200;

  private static final int ENDLESS = 20_000;

  private final TokenGrammar grammar;
  private final Tokenizer tokenizer;
  private final Random random;
  private final ShortestPath shortest;
  private ParserState parserState;

  RandomGeneration(Grammar grammar, Tokenizer tokenizer, long seed) {
    this.grammar = grammar.forTokenizer(tokenizer);
    this.tokenizer = tokenizer;
    this.random = new Random(seed);
    this.shortest = new ShortestPath(grammar.automaton());
  }

  /** Returns the ids of a complete text, without the end-of-text token. */
  int[] ids() {
    TokenConstraint constraint = grammar.constraint();
    parserState = grammar.start();
    List<Integer> ids = new ArrayList<>();
    while (true) {
      int token = pick(constraint, ids.size());
      constraint.accept(token);
      parserState = grammar.advance(parserState, token);
      if (tokenizer.endOfText().contains(token)) {
        return ids.stream().mapToInt(Integer::intValue).toArray();
      }
      ids.add(token);
      assertThat(ids.size()).as("tokens of a text").isLessThan(ENDLESS);
    }
  }

  private int pick(TokenConstraint constraint, int length) {
    List<Integer> allowed = allowed(constraint, tokenizer.vocabularySize() + 100);
    assertThat(allowed).as("tokens that may come").isNotEmpty();
    if (length > LONG) {
      int least = allowed.stream().mapToInt(this::remainingAfter).min().orElseThrow();
      allowed = allowed.stream().filter(token -> remainingAfter(token) == least).toList();
    }
    return allowed.get(random.nextInt(allowed.size()));
  }

  private int remainingAfter(int token) {
    boolean isEnd = tokenizer.endOfText().contains(token);
    return isEnd ? -1 : shortest.from(grammar.advance(parserState, token));
  }

  static List<Integer> allowed(TokenConstraint constraint, int vocabulary) {
    float[] logits = new float[vocabulary];
    constraint.mask(logits, 0, vocabulary);
    List<Integer> allowed = new ArrayList<>();
    for (int i = 0; i < vocabulary; i++) {
      if (logits[i] == 0) {
        allowed.add(i);
      }
    }
    return allowed;
  }
}
