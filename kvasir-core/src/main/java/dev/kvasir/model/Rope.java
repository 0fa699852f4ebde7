package dev.kvasir.model;

import dev.kvasir.cache.KvCache;
import dev.kvasir.kernel.RopeTable;
import dev.kvasir.kernel.Rotation;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Rotary position embedding of a model: which channels are rotated together, and by which angles.
 */
public final class Rope implements Rotation {
  private static final int PAGE_TOKENS = KvCache.TOKENS_PER_PAGE;

  private final RopeLayout layout;
  private final float[] frequencies;
  private final RopeAngleCache angleCache = new RopeAngleCache();
  private volatile PageAngleTable pageAngles; // null until first used
  private volatile RopeTable table; // null until first used

  public Rope(RopeLayout layout, float[] frequencies) {
    this.layout = layout;
    this.frequencies = frequencies.clone();
  }

  /**
   * Returns a rotation of one pair of channels by nothing. Each belongs to one model, because it
   * keeps a table for the size of its heads.
   */
  static Rope none() {
    return new Rope(RopeLayout.HALVES, new float[1]);
  }

  /** Returns the number of rotary channel pairs. */
  public int pairs() {
    return frequencies.length;
  }

  /** Computes cosines and sines of a position's angles. */
  void angles(int position, float[] cosines, float[] sines, int at) {
    for (int i = 0; i < frequencies.length; i++) {
      // A float product, as in the reference implementations that models are trained with.
      float angle = position * frequencies[i];
      cosines[at + i] = (float) Math.cos(angle);
      sines[at + i] = (float) Math.sin(angle);
    }
  }

  /** Rotates {@code heads} consecutive heads of {@code headDim} channels. */
  void rotate(
      float[] x, int at, int heads, int headDim, float[] cosines, float[] sines, int anglesAt) {
    for (int head = 0; head < heads; head++) {
      layout.rotate(x, at + head * headDim, frequencies.length, cosines, sines, anglesAt);
    }
  }

  /** Angles of the first positions, forwards and backwards, computed once for all pages. */
  private record PageAngleTable(float[] cosines, float[] sines, float[] backSines) {}

  private PageAngleTable pageAngles() {
    PageAngleTable found = pageAngles;
    if (found == null) {
      float[] cosines = new float[PAGE_TOKENS * pairs()];
      float[] sines = new float[PAGE_TOKENS * pairs()];
      for (int position = 0; position < PAGE_TOKENS; position++) {
        angles(position, cosines, sines, position * pairs());
      }
      float[] back = new float[sines.length];
      for (int i = 0; i < back.length; i++) {
        back[i] = -sines[i];
      }
      found = new PageAngleTable(cosines, sines, back);
      pageAngles = found;
    }
    return found;
  }

  /**
   * Returns the angles of a position. Pages start at the same positions in every layer and head,
   * step after step.
   */
  private RopeAngleCache.PositionAngles cachedAngles(int position) {
    RopeAngleCache.PositionAngles known = angleCache.of(position);
    if (known == null) {
      float[] cosines = new float[pairs()];
      float[] sines = new float[pairs()];
      angles(position, cosines, sines, 0);
      known = angleCache.add(position, cosines, sines);
    }
    return known;
  }

  @Override
  public RopeTable table(int headDim) {
    RopeTable found = table;
    if (found == null) {
      PageAngleTable known = pageAngles();
      found = new RopeTable(pairOrder(headDim), pairs(), known.cosines, known.sines);
      table = found;
    }
    return found;
  }

  @Override
  public int[] pairOrder(int headDim) {
    int[] order = new int[headDim];
    for (int pair = 0; pair < headDim / 2; pair++) {
      boolean isRotary = pair < pairs();
      order[pair] = isRotary ? layout.first(pair, pairs()) : 2 * pair;
      order[headDim / 2 + pair] = isRotary ? layout.second(pair, pairs()) : 2 * pair + 1;
    }
    return order;
  }

  @Override
  public void rotate(float[] x, int at, int stride, int count, int position) {
    RopeAngleCache.PositionAngles one = cachedAngles(position);
    for (int i = 0; i < count; i++) {
      layout.rotate(x, at + i * stride, pairs(), one.cosines(), one.sines(), 0);
    }
  }

  @Override
  public void rotateConsecutive(float[] x, int at, int stride, int count) {
    PageAngleTable known = pageAngles();
    for (int i = 0; i < count; i++) {
      layout.rotate(x, at + i * stride, pairs(), known.cosines, known.sines, i * pairs());
    }
  }

  @Override
  public void unrotateConsecutive(float[] x, int at, int stride, int count) {
    PageAngleTable known = pageAngles();
    for (int i = 0; i < count; i++) {
      layout.rotate(x, at + i * stride, pairs(), known.cosines, known.backSines, i * pairs());
    }
  }

  /** Compares by value, so that tables for one serve the other. */
  @Override
  public boolean equals(Object other) {
    return other instanceof Rope rope
        && layout == rope.layout
        && Arrays.equals(frequencies, rope.frequencies);
  }

  @Override
  public int hashCode() {
    return 31 * layout.hashCode() + Arrays.hashCode(frequencies);
  }

  /** Cache of the angles of page positions. Lookups take no lock and do not box the position. */
  private static final class RopeAngleCache {
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
}
