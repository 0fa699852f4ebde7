package dev.kvasir.lab.task;

import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/** Documents with secret numbers hidden in running prose. */
public final class Needles {
  /** Digits of a secret. */
  private static final int DIGITS = 5;

  /** Maximum density and number of facts in the training data of the bundled model. */
  private static final int CHARS_PER_FACT = 700;

  private static final int MAX_FACTS = 24;

  private Needles() {}

  /** Returns the maximum number of facts for a document length in characters. */
  public static int maxFacts(int chars) {
    return Math.max(2, Math.min(MAX_FACTS, chars / CHARS_PER_FACT));
  }

  /**
   * Hides facts at the ends of sentences, one in each of as many equal parts of the prose, so that
   * all depths are covered.
   *
   * @param filler prose, read cyclically from a random position
   * @param chars characters of prose
   */
  public static Document document(RandomGenerator random, String filler, int chars, int facts) {
    String prose = excerpt(filler, random.nextInt(filler.length()), chars);
    List<String> names = Names.draw(random, facts);
    StringBuilder text = new StringBuilder();
    List<Question> questions = new ArrayList<>();
    int last = 0;
    for (int i = 0; i < facts; i++) {
      int target = (int) ((i + random.nextDouble()) / facts * prose.length());
      int cut = sentenceEnd(prose, Math.max(last, target));
      String secret = Names.number(random, DIGITS);
      text.append(prose, last, cut);
      text.append(" The secret number of %s is %s.".formatted(names.get(i), secret));
      questions.add(question(names.get(i), secret, (double) cut / prose.length()));
      last = cut;
    }
    return new Document(text.append(prose, last, prose.length()).toString(), questions);
  }

  private static Question question(String name, String secret, double depth) {
    String question = "What is the secret number of %s?".formatted(name);
    return Question.about(question, secret, depth);
  }

  private static String excerpt(String filler, int start, int chars) {
    StringBuilder prose = new StringBuilder(filler.substring(start));
    while (prose.length() < chars) {
      prose.append(filler);
    }
    return prose.substring(0, chars);
  }

  /** Returns the position after the first period from {@code from} on that ends a sentence. */
  private static int sentenceEnd(String prose, int from) {
    for (int at = from; at < prose.length() - 1; at++) {
      if (prose.charAt(at) == '.' && Character.isWhitespace(prose.charAt(at + 1))) {
        return at + 1;
      }
    }
    return prose.length();
  }
}
