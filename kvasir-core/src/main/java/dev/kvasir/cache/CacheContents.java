package dev.kvasir.cache;

import java.util.List;

/** The contents of a cache, to be stored or reported: as bytes, by size and by kind. */
public interface CacheContents {
  /** Returns the number of positions that every layer holds. */
  int length();

  /**
   * Pins the pages for reading: until the matching {@link #unpin}, no other thread requantizes them
   * to free memory. Calls nest.
   */
  void pin();

  /** Undoes one {@link #pin}, on the same thread. */
  void unpin();

  /**
   * Returns a snapshot of the whole cache for storage. It is valid until the cache changes, and
   * must not be taken while quantization is deferred.
   */
  CacheSnapshot snapshot();

  /** Returns the bytes allocated for this cache now, shared ones included. */
  CacheBytes bytes();

  /** Returns its tokens from first to last, grouped by representation. */
  List<CacheRun> runs();

  /** Returns the time that this sequence has spent on quantization; a fork starts at zero. */
  QuantizationTime quantizationTime();
}
