package dev.kvasir.engine;

import dev.kvasir.cache.KvCache;
import java.util.Arrays;

/**
 * A prefix of a text in memory.
 *
 * @param key hash of its whole steps; tokens of another step may follow
 */
public record CachedPrefix(StepHash key, String owner, int[] tokens, KvCache cache) {
  /**
   * Returns how many tokens of a text it serves; 0 if the texts differ before the end of the key's
   * steps.
   */
  int matchLength(int[] text) {
    int mismatch = Arrays.mismatch(tokens, text);
    int common = mismatch < 0 ? tokens.length : mismatch;
    // The last token is always prefilled, for its logits.
    int served = Math.min(common, text.length - 1);
    return served < key.length() ? 0 : cache.retainable(served);
  }

  boolean matches(int[] text, int length) {
    return tokens.length == length && Arrays.equals(tokens, 0, length, text, 0, length);
  }

  @Override
  public boolean equals(Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(this);
  }
}
