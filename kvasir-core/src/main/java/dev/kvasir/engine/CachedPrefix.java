package dev.kvasir.engine;

import dev.kvasir.cache.KvCache;
import java.util.Arrays;

/**
 * A beginning of a text in memory.
 *
 * @param key of the whole steps that it holds; tokens of a further one may follow
 */
record CachedPrefix(StepHash key, String owner, int[] tokens, KvCache cache) {
  /** How far it serves a text: not at all where they part before the key's steps end. */
  int matchLength(int[] text) {
    int mismatch = Arrays.mismatch(tokens, text);
    int common = mismatch < 0 ? tokens.length : mismatch;
    // The last token is read in any case, for its logits.
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
