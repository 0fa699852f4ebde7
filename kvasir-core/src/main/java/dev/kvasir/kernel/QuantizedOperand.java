package dev.kvasir.kernel;

import dev.kvasir.page.WordLayout;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * What the codes of a {@link WordLayout} are multiplied by: the weights of each head as integers
 * {@code q = round(w / unit)}, ties to even, with {@code unit = max |w| / limit}. In fast mode the
 * limit is 127, and a weight is one signed digit. In exact mode it is 127 * 128, and a weight is
 * {@code 128 * high + low}, high in [-127, 127] and low in [-64, 63].
 *
 * <pre>
 * quad 0 .. Q-1
 *   row 0 .. heads-1, the only digits or the high ones; in exact mode heads .. 2 heads - 1, low ones
 *     4 signed bytes: the quad's entries
 * </pre>
 *
 * so that a vector of 32-bit lanes is filled with a quad of a row at once, and rows follow each
 * other. Entries beyond the last have weights of zero. Digits do not depend on the width of codes.
 *
 * <p>With S the sum of {@code digit * code}, in 32 bits since 1024 * 127 * 255 fits, a lane gets
 *
 * <pre>
 * fast   out += fma((float) S, unit, constant)
 * exact  out += fma(fma(128, (float) S_high, (float) S_low), unit, constant)
 * constant = (float) (middle * rest + offset)          in doubles
 * rest = (sum of w) - unit * (sum of q)                in doubles, middle = (2^bits - 1) / 2
 * </pre>
 *
 * where the sum of w is that of sixteen partial sums on every machine, {@link PartialSums#sum},
 * weights filled up with zeros. What rounding leaves of the weights counts with the middle of the
 * codes: without that a weight well below the unit would vanish, and with it a sum is right on the
 * average over codes.
 *
 * <p>An entry is off by half a unit at most, which its code's distance from the middle multiplies,
 * so a result is off by less than {@code (2^bits - 1) / 4 * entries * unit}; independent errors
 * leave far less.
 */
public final class QuantizedOperand {
  public static final int MAX_HEADS = 8;

  /** Sums of products fit 32 bits. */
  public static final int MAX_DEPTH = 1024;

  /** The largest digit. */
  public static final int LIMIT = 127;

  /** Bits of the low digit. */
  public static final int LOW_BITS = 7;

  /** Adding this leaves a float's nearest integer in its low bits. */
  public static final float ROUNDER = 0x1.8p23f;

  /** Numbers of a head in {@link #stats}. */
  public static final int STATS_PER_HEAD = 3;

  /** Digits may be loaded by whole vectors, of so many bytes at the most. */
  private static final int WIDEST_VECTOR = 64;

  /**
   * Below this a unit's inverse would overflow: such weights count with the middle of the codes.
   */
  private static final float MIN_LARGEST = 1e-30f;

  private final byte[] bytes;
  private final float[] products;
  private final float[] scales;
  private final int maxHeads;
  private final int maxDepth;
  private final float[] units;
  private final double[] roundingErrors;
  private final float[] offsets;
  private final float[] stats;
  private final int[] totals;
  private final float[] constants;
  private final Views views;
  private final TileSums tileSums = new TileSums();
  private final RowBlock groupRows = new RowBlock();
  private float[] callScratch = {};
  private int heads;
  private int depth;
  private boolean exact;

  /** Room for so many heads and entries; {@link #begin} says how many there are. */
  public QuantizedOperand(int maxHeads, int maxDepth) {
    requireWithin("heads", maxHeads, MAX_HEADS);
    requireWithin("entries", maxDepth, MAX_DEPTH);
    this.maxHeads = maxHeads;
    this.maxDepth = maxDepth;
    bytes = new byte[2 * maxHeads * paddedDepth(maxDepth) + WIDEST_VECTOR];
    products = new float[maxHeads * paddedDepth(maxDepth)];
    scales = new float[3 * paddedDepth(maxDepth)];
    units = new float[maxHeads];
    roundingErrors = new double[maxHeads];
    offsets = new float[maxHeads];
    stats = new float[STATS_PER_HEAD * maxHeads];
    totals = new int[maxHeads];
    constants = new float[maxHeads];
    views =
        new Views(
            MemorySegment.ofArray(bytes),
            MemorySegment.ofArray(products),
            MemorySegment.ofArray(scales),
            MemorySegment.ofArray(stats),
            MemorySegment.ofArray(totals),
            MemorySegment.ofArray(units),
            MemorySegment.ofArray(constants));
  }

  /**
   * The arrays as segments, for kernels that are no Java.
   *
   * @param constants what {@link #fillConstants} fills
   */
  public record Views(
      MemorySegment bytes,
      MemorySegment products,
      MemorySegment scales,
      MemorySegment stats,
      MemorySegment totals,
      MemorySegment units,
      MemorySegment constants) {}

  public Views views() {
    return views;
  }

  private static void requireWithin(String what, int value, int limit) {
    if (value < 1 || value > limit) {
      throw new IllegalArgumentException(
          "%s is %d; expected 1 to %d".formatted(what, value, limit));
    }
  }

  /** Takes a new shape; the weights of each head are to be rounded. */
  public void begin(int heads, int depth, boolean exact) {
    requireWithin("heads", heads, maxHeads);
    requireWithin("entries", depth, maxDepth);
    this.heads = heads;
    this.depth = depth;
    this.exact = exact;
    Arrays.fill(offsets, 0);
  }

  /** So many entries, filled up as the sum of weights wants it. */
  public static int paddedDepth(int depth) {
    return Math.ceilDiv(depth, PartialSums.COUNT) * PartialSums.COUNT;
  }

  /**
   * Fixes a head's unit.
   *
   * @param largest the largest magnitude of its weights
   * @return what turns a weight into a number of units
   */
  public float chooseUnit(int head, float largest) {
    boolean vanishing = largest < MIN_LARGEST;
    int limit = exact ? LIMIT << LOW_BITS : LIMIT;
    units[head] = vanishing ? 0 : largest / limit;
    return vanishing ? 0 : limit / largest;
  }

  /**
   * Fixes what rounding has left of a head's weights.
   *
   * @param sum of all weights
   * @param total of the integers that they were rounded to
   */
  public void setRoundingError(int head, float sum, int total) {
    roundingErrors[head] = sum - (double) units[head] * total;
  }

  /** The digits. */
  public byte[] bytes() {
    return bytes;
  }

  /**
   * Room for the one who rounds: weights before they are rounded. // (heads, entries), filled up
   */
  public float[] products() {
    return products;
  }

  /** Room for the one who rounds: {@link #STATS_PER_HEAD} numbers of each head. */
  public float[] stats() {
    return stats;
  }

  /** Room for the one who rounds: an integer of each head. */
  public int[] totals() {
    return totals;
  }

  /**
   * Room for the one who rounds: scales, zeros and a head's own numbers. // (3, entries), filled up
   */
  public float[] scales() {
    return scales;
  }

  /**
   * Room for kernels that weigh and add up in one call: scales and zeros, products, digits. // (2 +
   * heads, entries) floats, then the bytes of {@link #digits}, entries filled up
   */
  public float[] callScratch() {
    if (callScratch.length == 0) {
      callScratch = new float[(2 + maxHeads) * paddedDepth(maxDepth) + bytes.length / Float.BYTES];
    }
    return callScratch;
  }

  /** An operand for the one who adds up group by group: columns of an output. */
  RowBlock groupRows() {
    return groupRows;
  }

  /** Room for the one who adds up plainly. */
  TileSums tileSums() {
    return tileSums;
  }

  /** A tile's bytes and codes, and the sums of one head over its lanes. */
  static final class TileSums {
    final int[] high = new int[WordLayout.TILE];
    final int[] low = new int[WordLayout.TILE];
    byte[] packed = {};
    byte[] codes = {};

    void ensureCapacity(WordLayout layout) {
      if (packed.length < layout.tileBytes()) {
        packed = new byte[layout.tileBytes()];
      }
      if (codes.length < layout.rows() * WordLayout.TILE) {
        codes = new byte[layout.rows() * WordLayout.TILE];
      }
    }
  }

  public int heads() {
    return heads;
  }

  public int depth() {
    return depth;
  }

  public int quads() {
    return Math.ceilDiv(depth, 4);
  }

  public boolean exact() {
    return exact;
  }

  /** Rows of digits: one or two a head. */
  public int rows() {
    return exact ? 2 * heads : heads;
  }

  /** Where the digits of a quad lie. */
  public int byteOffset(int row, int quad) {
    return 4 * (quad * rows() + row);
  }

  /** What an integer sum of a head is multiplied by. */
  public float unit(int head) {
    return units[head];
  }

  /** What is added to every lane of a head, for codes of that width. */
  public float constant(int head, int bits) {
    double middle = ((1 << bits) - 1) / 2.0;
    return (float) (middle * roundingErrors[head] + offsets[head]);
  }

  /** Fills the {@link Views#constants} of every head, until the next call. */
  public void fillConstants(int bits) {
    for (int head = 0; head < heads; head++) {
      constants[head] = constant(head, bits);
    }
  }

  /** A number of the caller's that is to be added to every lane of a head too, such as zeros. */
  public void setOffset(int head, float offset) {
    offsets[head] = offset;
  }

  /** Refuses codes and sums that the weights were not made for. */
  public void requireFit(WordLayout layout, int tiles, RowBlock out) {
    requireDepth(layout.rows());
    out.requireShape(heads, tiles * WordLayout.TILE);
  }

  /** Refuses a grid of codes that the weights were not made for. */
  public void requireDepth(int codes) {
    if (codes != 4 * quads()) {
      throw new IllegalArgumentException(
          "entries is %d; the weights are for %d".formatted(codes, 4 * quads()));
    }
  }
}
