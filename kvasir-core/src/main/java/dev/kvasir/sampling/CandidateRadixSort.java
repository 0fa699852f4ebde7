package dev.kvasir.sampling;

import java.util.Arrays;

/**
 * A stable radix sort of candidates by the upper halves of their keys, from the lowest byte up.
 * Unlike {@link Arrays#sort(long[])}, which may allocate where it sorts with wide vectors, it
 * reuses its buffer.
 */
final class CandidateRadixSort {
  private static final int RADIX = 256;
  private static final int PASSES = 4;

  /** The highest byte is signed: its upper half sorts before its lower half. */
  private static final int SIGN = RADIX / 2;

  private final int[] starts = new int[PASSES * RADIX];
  private long[] sorted = {};

  void sort(long[] keys, int count) {
    if (sorted.length < count) {
      sorted = new long[keys.length];
    }
    countDigits(keys, count);
    long[] from = keys;
    long[] to = sorted;
    for (int pass = 0; pass < PASSES; pass++) {
      if (exclusiveScan(pass, count)) {
        distribute(from, to, count, pass);
        long[] swapped = from;
        from = to;
        to = swapped;
      }
    }
    if (from != keys) {
      System.arraycopy(from, 0, keys, 0, count);
    }
  }

  private void countDigits(long[] keys, int count) {
    Arrays.fill(starts, 0);
    for (int i = 0; i < count; i++) {
      for (int pass = 0; pass < PASSES; pass++) {
        starts[pass * RADIX + digit(keys[i], pass)]++;
      }
    }
  }

  /** Turns counts into start offsets; returns false if all keys have the same digit. */
  private boolean exclusiveScan(int pass, int count) {
    int begin = 0;
    for (int i = pass * RADIX; i < (pass + 1) * RADIX; i++) {
      int here = starts[i];
      if (here == count) {
        return false;
      }
      starts[i] = begin;
      begin += here;
    }
    return true;
  }

  private void distribute(long[] from, long[] to, int count, int pass) {
    for (int i = 0; i < count; i++) {
      to[starts[pass * RADIX + digit(from[i], pass)]++] = from[i];
    }
  }

  private static int digit(long key, int pass) {
    int digit = (int) (key >>> 32 + 8 * pass) & RADIX - 1;
    return pass == PASSES - 1 ? digit ^ SIGN : digit;
  }
}
