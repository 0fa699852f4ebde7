package dev.kvasir.lab.eval;

import dev.kvasir.cache.KvCache;
import java.util.function.Predicate;

/** A sequence that is being continued. */
final class Draft implements AutoCloseable {
  private final KvCache cache;
  private final int[] prompt;
  private final int maxTokens;
  private final Predicate<String> isComplete;
  private String text = "";

  /**
   * @param cache what comes before the prompt; closed with the draft
   * @param prompt ids that are not in the cache yet, at least one
   * @param mostTokens to generate
   * @param enough says of the text so far that nothing is missing
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

  /** What was generated. */
  String text() {
    return text;
  }

  /** Takes a piece of text; true if that is enough. */
  boolean append(String piece) {
    text += piece;
    return isComplete.test(text);
  }

  @Override
  public void close() {
    cache.close();
  }
}
