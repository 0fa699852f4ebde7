package dev.kvasir.lab.eval;

import dev.kvasir.sampling.Sampler;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/** An answer that is being generated after a prompt. */
final class Draft {
  private final int maxTokens;
  private final Predicate<String> isComplete;
  private final Sampler sampler; // null if the most likely token is taken
  private String text = "";

  /**
   * @param maxTokens maximum number of tokens to generate
   * @param isComplete returns whether the text so far is complete
   * @param sampler chooses tokens; null for the most likely ones
   */
  Draft(int maxTokens, Predicate<String> isComplete, Sampler sampler) {
    this.maxTokens = maxTokens;
    this.isComplete = isComplete;
    this.sampler = sampler;
  }

  /** Returns the drafts of all answers to a question. */
  static List<Draft> all(
      AnswerSampling sampling, int question, int maxTokens, Predicate<String> isComplete) {
    return IntStream.range(0, sampling.answers())
        .mapToObj(
            answer ->
                new Draft(
                    maxTokens,
                    isComplete,
                    sampling.isGreedy() ? null : sampling.sampler(question, answer)))
        .toList();
  }

  int maxTokens() {
    return maxTokens;
  }

  /** Returns the generated text. */
  String text() {
    return text;
  }

  /** Appends text and returns whether the draft is complete. */
  boolean append(String piece) {
    text += piece;
    return isComplete.test(text);
  }

  /**
   * Chooses the next token. Without finite logits it takes any: a broken cache yields a bad score,
   * not a failure.
   */
  int choose(float[] logits, int at, int count) {
    if (sampler == null || !isFinite(logits, at, count)) {
      return ArgMax.of(logits, at, count);
    }
    return sampler.sample(logits, at, count);
  }

  private static boolean isFinite(float[] logits, int at, int count) {
    for (int i = at; i < at + count; i++) {
      if (!Float.isFinite(logits[i])) {
        return false;
      }
    }
    return true;
  }
}
