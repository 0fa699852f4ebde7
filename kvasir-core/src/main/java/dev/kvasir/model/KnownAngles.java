package dev.kvasir.model;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Angles of the positions that pages begin at, found by any number of threads without a lock and
 * without a box around the position.
 */
final class KnownAngles {
  /** Positions that are kept: pages of half a million tokens. */
  private static final int MOST = 4096;

  /**
   * How far the pairs of channels turn to a position.
   *
   * @param cosines (pairs)
   * @param sines (pairs)
   * @param next another position of the same bucket; null after the last
   */
  record Angles(int position, float[] cosines, float[] sines, Angles next) {}

  private final AtomicReferenceArray<Angles> buckets = new AtomicReferenceArray<>(MOST);
  private int count; // under the lock of those who add

  /** Null where they are not known. */
  Angles of(int position) {
    Angles found = buckets.get(bucket(position));
    while (found != null && found.position != position) {
      found = found.next;
    }
    return found;
  }

  /** Remembers a position, and forgets all others once there are too many. */
  synchronized Angles add(int position, float[] cosines, float[] sines) {
    if (count == MOST) {
      for (int i = 0; i < MOST; i++) {
        buckets.set(i, null);
      }
      count = 0;
    }
    int bucket = bucket(position);
    Angles added = new Angles(position, cosines, sines, buckets.get(bucket));
    buckets.set(bucket, added);
    count++;
    return added;
  }

  /** Positions of pages are 128 apart, so all their bits are spread over the upper ones. */
  private static int bucket(int position) {
    return position * 0x9E3779B9 >>> Integer.numberOfLeadingZeros(MOST - 1);
  }
}
