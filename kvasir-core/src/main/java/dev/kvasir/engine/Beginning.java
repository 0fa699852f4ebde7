package dev.kvasir.engine;

import dev.kvasir.cache.KvCache;

/** A text about to be read: a cache with what was known of its beginning. */
public final class Beginning {
  private final KvCache cache;
  private final Object source;
  private final int length;
  private final PrefixCache.Leaving leaving;

  Beginning(KvCache cache, Object source, PrefixCache.Leaving leaving) {
    this.cache = cache;
    this.source = source;
    this.length = cache.length();
    this.leaving = leaving;
  }

  /** Belongs to whoever begins: it is for them to close. */
  public KvCache cache() {
    return cache;
  }

  /** Tokens that need not be read. */
  public int length() {
    return length;
  }

  /** The same object for all that began from the same place; null where nothing was known. */
  public Object source() {
    return source;
  }

  /**
   * Told whenever a whole step of the prompt has been read and packed.
   *
   * @param leavesLast whether the text's last whole step is where it can be gone on with
   */
  void stepRead(int stepEnd, boolean leavesLast) {
    leaving.stepRead(cache, stepEnd, leavesLast);
  }

  /** Told of a place in the text, read or generated, that every prompt would leave alike. */
  void leave(int[] tokens, int length) {
    leaving.leave(cache, tokens, length);
  }
}
