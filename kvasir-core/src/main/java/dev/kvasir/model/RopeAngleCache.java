package dev.kvasir.model;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Angles of the positions that pages begin at, found by any number of threads without a lock and
 * without a box around the position.
 */
final class RopeAngleCache {
  /** Positions that are kept: pages of half a million tokens. */
  private static final int MAX_POSITIONS = 4096;

  /**
   * How far the pairs of channels turn to a position.
   *
   * @param cosines (pairs)
   * @param sines (pairs)
   * @param next another position of the same bucket; null after the last
   */
  record PositionAngles(int position, float[] cosines, float[] sines, PositionAngles next) {}

  private final AtomicReferenceArray<PositionAngles> buckets =
      new AtomicReferenceArray<>(MAX_POSITIONS);
  private int count; // under the lock of those who add

  /** Null where they are not known. */
  PositionAngles of(int position) {
    PositionAngles found = buckets.get(bucket(position));
    while (found != null && found.position != position) {
      found = found.next;
    }
    return found;
  }

  /** Remembers a position, and forgets all others once there are too many. */
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

  /** Positions of pages are 128 apart, so all their bits are spread over the upper ones. */
  private static int bucket(int position) {
    return position * 0x9E3779B9 >>> Integer.numberOfLeadingZeros(MAX_POSITIONS - 1);
  }
}
