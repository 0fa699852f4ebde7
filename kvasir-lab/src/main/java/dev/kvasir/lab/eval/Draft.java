package dev.kvasir.lab.eval;

import dev.kvasir.cache.KvCache;
import java.util.function.Predicate;

/** A sequence that is being generated. */
final class Draft implements AutoCloseable {
  private final KvCache cache;
  private final int[] prompt;
  private final int maxTokens;
  private final Predicate<String> isComplete;
  private String text = "";

  /**
   * @param cache cache with the tokens before the prompt; closed with the draft
   * @param prompt ids that are not in the cache yet, at least one
   * @param maxTokens maximum number of tokens to generate
   * @param isComplete returns whether the text so far is complete
   */
  Draft(KvCache cache, int[] prompt, int maxTokens, Predicate<String> isComplete) {
    this.cache = cache;
    this.prompt = prompt;
    this.maxTokens = maxTokens;
    this.isComplete = isComplete;
  }

  KvCache cache() {
    return cache;
  }

  int[] prompt() {
    return prompt;
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

  @Override
  public void close() {
    cache.close();
  }
}
