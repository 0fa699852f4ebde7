package dev.kvasir.model;

import java.util.concurrent.atomic.AtomicReferenceArray;

/** Cache of the angles of page positions. Lookups take no lock and do not box the position. */
final class RopeAngleCache {
  /** Most cached positions: the pages of half a million tokens. */
  private static final int MAX_POSITIONS = 4096;

  /**
   * RoPE angles of a position.
   *
   * @param cosines (pairs)
   * @param sines (pairs)
   * @param next another position of the same bucket; null after the last
   */
  record PositionAngles(int position, float[] cosines, float[] sines, PositionAngles next) {}

  private final AtomicReferenceArray<PositionAngles> buckets =
      new AtomicReferenceArray<>(MAX_POSITIONS);
  private int count; // guarded by this

  /** Returns the angles of a position, or null if they are not cached. */
  PositionAngles of(int position) {
    PositionAngles found = buckets.get(bucket(position));
    while (found != null && found.position != position) {
      found = found.next;
    }
    return found;
  }

  /** Adds a position; clears the cache first if it is full. */
  synchronized PositionAngles add(int position, float[] cosines, float[] sines) {
    if (count == MAX_POSITIONS) {
      for (int i = 0; i < MAX_POSITIONS; i++) {
        buckets.set(i, null);
      }
      count = 0;
    }
    int bucket = bucket(position);
    PositionAngles added = new PositionAngles(position, cosines, sines, buckets.get(bucket));
    buckets.set(bucket, added);
    count++;
    return added;
  }

  /** Spreads all bits over the upper ones, since positions of pages are 128 apart. */
  private static int bucket(int position) {
    return position * 0x9E3779B9 >>> Integer.numberOfLeadingZeros(MAX_POSITIONS - 1);
  }
}
