package dev.kvasir.kernel;

import java.util.stream.IntStream;

/**
 * A rotation as kernels want it: how channels pair, and how far each pair turns in so many tokens.
 * Channels that the rotation leaves alone are paired too, and turn by nothing.
 *
 * <pre>
 * a row: first channels of all pairs, zeros up to pairs() | second channels, zeros up to pairs()
 * </pre>
 */
public final class RopeTable {
  /** Rows are gone through in whole vectors of at most so many floats. */
  private static final int PADDING = 16;

  private final int[] order;
  private final int pairs;
  private final boolean isModelOrder; // a row is a vector as the model has it
  private final float[] cosines;
  private final float[] sines;
  private final float[] negatedSines; // to turn back
  private final AngleCache angleCache = new AngleCache();
  private volatile OffsetAngles offsetAngles; // null until it is asked for

  /**
   * @param order channels of a head: the first of each pair, then the second
   * @param turning pairs that turn, the first ones
   * @param cosines (tokens, turning)
   * @param sines (tokens, turning)
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

  /** Channels of a vector. */
  public int headDim() {
    return order.length;
  }

  /** Pairs of a row, those included that pad it. */
  public int pairs() {
    return pairs;
  }

  /** Floats of a row. */
  public int width() {
    return 2 * pairs;
  }

  /**
   * Brings vectors into the order of rows.
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
   * Turns rows by so many tokens, in place.
   *
   * @param rows (count, width) from {@code at} on
   */
  public void rotate(Kernels kernels, float[] rows, int at, int count, int tokens) {
    kernels.patterns().rotate(rows, at, count, pairs, cosines, sines, tokens * pairs);
  }

  /** The inverse of {@link #turn}. */
  public void unrotate(Kernels kernels, float[] rows, int at, int count, int tokens) {
    kernels.patterns().rotate(rows, at, count, pairs, cosines, negatedSines, tokens * pairs);
  }

  /** Whether {@link #arrange} would change nothing: rows are vectors as the model has them. */
  public boolean hasModelOrder() {
    return isModelOrder;
  }

  /**
   * How far pairs turn to a position.
   *
   * @param rotation whose table this is
   */
  public RopeAngles angles(Rotation rotation, int position) {
    return angleCache.of(position, wanted -> new RopeRotation(this).angles(rotation, wanted));
  }

  /** How far pairs turn in a few tokens, made once. */
  public OffsetAngles offsetAngles() {
    OffsetAngles found = offsetAngles;
    if (found == null) {
      found = OffsetAngles.of(cosines, sines, pairs);
      offsetAngles = found;
    }
    return found;
  }

  /** By token and pair, not to be changed: for kernels that turn what they make. */
  public float[] cosines() {
    return cosines;
  }

  /** As the cosines. */
  public float[] sines() {
    return sines;
  }

  /**
   * Turns rows of consecutive tokens, in place: the i-th one by i.
   *
   * @param rows (count, width)
   */
  public void rotateEach(Kernels kernels, float[] rows, int count) {
    kernels.rowCodes().rotateEach(rows, count, pairs, cosines, sines);
  }

  /**
   * Brings rows back into the model's order; the inverse of {@link #arrange}.
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
}
