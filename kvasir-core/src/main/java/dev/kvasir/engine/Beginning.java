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

  /** Told whenever a step of the prompt has been read and packed. */
  void stepRead(int stepBegin, int stepEnd) {
    leaving.stepRead(cache, stepBegin, stepEnd);
  }
}
