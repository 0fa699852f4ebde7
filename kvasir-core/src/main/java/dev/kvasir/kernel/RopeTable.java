package dev.kvasir.kernel;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * A rotary position embedding in the form that kernels use: the order of paired channels, and the
 * angle of each pair by number of tokens. Non-rotary channels are paired too, with angle zero.
 *
 * <pre>
 * a row: first channels of all pairs, zeros up to pairs() | second channels, zeros up to pairs()
 * </pre>
 */
public final class RopeTable {
  /** Rows are processed in whole vectors of up to this many floats. */
  private static final int PADDING = 16;

  private final int[] order;
  private final int pairs;
  private final boolean isModelOrder; // a row is a vector in model order
  private final float[] cosines;
  private final float[] sines;
  private final float[] negatedSines; // for the inverse rotation
  private final AngleCache angleCache = new AngleCache();
  private volatile OffsetAngles offsetAngles; // null until first used

  /**
   * @param order channels of a head: the first of each pair, then the second
   * @param rotaryPairs number of rotary pairs, which come first
   * @param cosines (tokens, rotaryPairs)
   * @param sines (tokens, rotaryPairs)
   */
  public RopeTable(int[] order, int rotaryPairs, float[] cosines, float[] sines) {
    this.order = order.clone();
    int half = order.length / 2;
    this.pairs = Math.ceilDiv(half, PADDING) * PADDING;
    this.isModelOrder =
        half == pairs && IntStream.range(0, order.length).allMatch(i -> order[i] == i);
    int tokens = cosines.length / rotaryPairs;
    this.cosines = new float[tokens * pairs];
    this.sines = new float[tokens * pairs];
    this.negatedSines = new float[tokens * pairs];
    for (int token = 0; token < tokens; token++) {
      for (int pair = 0; pair < half; pair++) {
        boolean isRotary = pair < rotaryPairs;
        this.cosines[token * pairs + pair] = isRotary ? cosines[token * rotaryPairs + pair] : 1;
        float sine = isRotary ? sines[token * rotaryPairs + pair] : 0;
        this.sines[token * pairs + pair] = sine;
        this.negatedSines[token * pairs + pair] = -sine;
      }
    }
  }

  /** Returns the channels of a vector. */
  public int headDim() {
    return order.length;
  }

  /** Returns the pairs of a row, including padding. */
  public int pairs() {
    return pairs;
  }

  /** Returns the floats of a row. */
  public int width() {
    return 2 * pairs;
  }

  /**
   * Copies vectors from model order to the order of rows.
   *
   * @param from (count, headDim)
   * @param to (count, width)
   */
  public void toPairOrder(float[] from, int at, int count, float[] to, int toAt) {
    if (isModelOrder) {
      System.arraycopy(from, at, to, toAt, count * order.length);
      return;
    }
    int half = order.length / 2;
    for (int i = 0; i < count; i++) {
      int source = at + i * order.length;
      int target = toAt + i * width();
      for (int pair = 0; pair < half; pair++) {
        to[target + pair] = from[source + order[pair]];
        to[target + pairs + pair] = from[source + order[half + pair]];
      }
    }
  }

  /**
   * Rotates rows by a number of tokens, in place.
   *
   * @param rows (count, width) from {@code at} on
   */
  public void rotate(Kernels kernels, float[] rows, int at, int count, int tokens) {
    kernels.patterns().rotate(rows, at, count, pairs, cosines, sines, tokens * pairs);
  }

  /** Inverts {@link #rotate}. */
  public void unrotate(Kernels kernels, float[] rows, int at, int count, int tokens) {
    kernels.patterns().rotate(rows, at, count, pairs, cosines, negatedSines, tokens * pairs);
  }

  /** Returns whether rows are in model order, so that {@link #toPairOrder} only copies. */
  public boolean hasModelOrder() {
    return isModelOrder;
  }

  /**
   * Returns the angles of a position.
   *
   * @param rotation the rotation of this table
   */
  public RopeAngles angles(Rotation rotation, int position) {
    return angleCache.of(position, missing -> new RopeRotation(this).angles(rotation, missing));
  }

  /** Returns the angles of small offsets, computed once. */
  public OffsetAngles offsetAngles() {
    OffsetAngles found = offsetAngles;
    if (found == null) {
      found = OffsetAngles.of(cosines, sines, pairs);
      offsetAngles = found;
    }
    return found;
  }

  /**
   * Returns the cosines by token and pair, for kernels that rotate as they compute. Callers must
   * not change them.
   */
  public float[] cosines() {
    return cosines;
  }

  /** Returns the sines by token and pair. Callers must not change them. */
  public float[] sines() {
    return sines;
  }

  /**
   * Rotates rows of consecutive tokens in place, row i by i tokens.
   *
   * @param rows (count, width)
   */
  public void rotateEach(Kernels kernels, float[] rows, int count) {
    kernels.rowCodes().rotateEach(rows, count, pairs, cosines, sines);
  }

  /**
   * Copies rows to vectors in model order; the inverse of {@link #toPairOrder}.
   *
   * @param from (count, width)
   * @param to (count, headDim)
   */
  public void toModelOrder(float[] from, int count, float[] to) {
    if (isModelOrder) {
      System.arraycopy(from, 0, to, 0, count * order.length);
      return;
    }
    int half = order.length / 2;
    for (int i = 0; i < count; i++) {
      int source = i * width();
      int target = i * order.length;
      for (int pair = 0; pair < half; pair++) {
        to[target + order[pair]] = from[source + pair];
        to[target + order[half + pair]] = from[source + pairs + pair];
      }
    }
  }

  /** A cache of the rotation angles of page positions, which are the same in every layer. */
  private static final class AngleCache {
    /** Cached positions: pages of half a million tokens. */
    private static final int MAX_POSITIONS = 4096;

    private final Map<Integer, RopeAngles> cached = new ConcurrentHashMap<>();

    /** Returns the angles of a position, computing them on a miss. A full cache is cleared. */
    RopeAngles of(int position, IntFunction<RopeAngles> make) {
      RopeAngles found = cached.get(position);
      if (found == null) {
        found = make.apply(position);
        if (cached.size() >= MAX_POSITIONS) {
          cached.clear();
        }
        cached.put(position, found);
      }
      return found;
    }
  }
}
