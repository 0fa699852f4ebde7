package dev.kvasir.kernel;

import dev.kvasir.page.WordLayout;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The integer operand that multiplies the codes of a {@link WordLayout}: the weights of each head
 * as {@code q = round(w / unit)}, ties to even, with {@code unit = max |w| / limit}. In fast mode
 * the limit is 127, and a weight is one signed byte. In exact mode it is 127 * 128, and a weight is
 * {@code 128 * high + low}, high in [-127, 127] and low in [-64, 63].
 *
 * <pre>
 * quad 0 .. Q-1
 *   row 0 .. heads-1, the only or high bytes; in exact mode also rows heads .. 2 heads - 1, low bytes
 *     4 signed bytes: the weights of the quad's matrix rows
 * </pre>
 *
 * A vector of 32-bit lanes is thus filled with one quad of a row at once, and rows are contiguous.
 * The weights beyond the last matrix row are zero. The bytes do not depend on the width of the
 * codes.
 *
 * <p>With S the sum of {@code byte * code}, in 32 bits since 1024 * 127 * 255 fits, a column gets
 *
 * <pre>
 * fast   out += fma((float) S, unit, constant)
 * exact  out += fma(fma(128, (float) S_high, (float) S_low), unit, constant)
 * constant = (float) (middle * error + offset)         in doubles
 * error = (sum of w) - unit * (sum of q)               in doubles, middle = (2^bits - 1) / 2
 * </pre>
 *
 * where the sum of w is {@link PartialSums#sum} of the weights padded with zeros, the same on every
 * machine. The rounding error of the weights is multiplied by the middle of the codes. Without this
 * term, weights far below the unit would vanish; with it, sums are unbiased over codes.
 *
 * <p>A weight is off by at most half a unit, times the distance of its code from the middle. A
 * result is therefore off by less than {@code (2^bits - 1) / 4 * depth * unit}; independent errors
 * are far smaller.
 */
public final class QuantizedOperand {
  public static final int MAX_HEADS = 8;

  /** Keeps sums of products within 32 bits. */
  public static final int MAX_DEPTH = 1024;

  /** The largest byte. */
  public static final int LIMIT = 127;

  /** Bits of the low byte. */
  public static final int LOW_BITS = 7;

  /** Adding this constant leaves a float's nearest integer in its low bits. */
  public static final float ROUNDER = 0x1.8p23f;

  /** Numbers per head in {@link #stats}. */
  public static final int STATS_PER_HEAD = 3;

  /** Bytes may be loaded in whole vectors of up to this size. */
  private static final int WIDEST_VECTOR = 64;

  /**
   * Below this, the inverse of a unit would overflow; such weights only count as rounding error.
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

  /** Allocates an operand for up to {@code maxHeads} heads of {@code maxDepth} weights. */
  public QuantizedOperand(int maxHeads, int maxDepth) {
    requireWithin("heads", maxHeads, MAX_HEADS);
    requireWithin("depth", maxDepth, MAX_DEPTH);
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
   * The arrays as segments, for native kernels.
   *
   * @param constants filled by {@link #fillConstants}
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

  /** Sets a new shape; the kernels then quantize the weights of each head. */
  public void begin(int heads, int depth, boolean exact) {
    requireWithin("heads", heads, maxHeads);
    requireWithin("depth", depth, maxDepth);
    this.heads = heads;
    this.depth = depth;
    this.exact = exact;
    Arrays.fill(offsets, 0);
  }

  /** Returns the depth rounded up to a multiple of {@link PartialSums#COUNT}. */
  public static int paddedDepth(int depth) {
    return Math.ceilDiv(depth, PartialSums.COUNT) * PartialSums.COUNT;
  }

  /**
   * Sets the unit of a head.
   *
   * @param largest the largest magnitude of its weights
   * @return the inverse of the unit, or zero if the weights are too small
   */
  public float chooseUnit(int head, float largest) {
    boolean vanishing = largest < MIN_LARGEST;
    int limit = exact ? LIMIT << LOW_BITS : LIMIT;
    units[head] = vanishing ? 0 : largest / limit;
    return vanishing ? 0 : limit / largest;
  }

  /**
   * Sets the rounding error of a head.
   *
   * @param sum of all weights
   * @param total of the integers that they were rounded to
   */
  public void setRoundingError(int head, float sum, int total) {
    roundingErrors[head] = sum - (double) units[head] * total;
  }

  public byte[] bytes() {
    return bytes;
  }

  /**
   * Returns scratch memory for kernels that quantize: the weights before rounding. // (heads,
   * padded depth)
   */
  public float[] products() {
    return products;
  }

  /** Returns scratch memory for kernels that quantize: {@link #STATS_PER_HEAD} numbers per head. */
  public float[] stats() {
    return stats;
  }

  /** Returns scratch memory for kernels that quantize: an integer per head. */
  public int[] totals() {
    return totals;
  }

  /**
   * Returns scratch memory for kernels that quantize: scales, zeros and a head's input. // (3,
   * padded depth)
   */
  public float[] scales() {
    return scales;
  }

  /**
   * Returns scratch memory for kernels that quantize and multiply in one call: scales, zeros and
   * products, then the bytes. // (2 + heads, padded depth) floats, then as many bytes as {@link
   * #bytes}
   */
  public float[] callScratch() {
    if (callScratch.length == 0) {
      callScratch = new float[(2 + maxHeads) * paddedDepth(maxDepth) + bytes.length / Float.BYTES];
    }
    return callScratch;
  }

  /** Returns an operand for kernels that multiply group by group: columns of an output. */
  RowBlock groupRows() {
    return groupRows;
  }

  /** Returns scratch memory for the Java kernels. */
  TileSums tileSums() {
    return tileSums;
  }

  /** A tile's bytes and codes, and the sums of one head over its columns. */
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

  public int quads() {
    return Math.ceilDiv(depth, 4);
  }

  public boolean exact() {
    return exact;
  }

  /** Returns the rows of bytes: one or two per head. */
  public int rows() {
    return exact ? 2 * heads : heads;
  }

  /** Returns the index of the first byte of a quad. */
  public int byteOffset(int row, int quad) {
    return 4 * (quad * rows() + row);
  }

  /** Returns the factor of a head's integer sum. */
  public float unit(int head) {
    return units[head];
  }

  /** Returns the constant that is added to every column of a head, for codes of that width. */
  public float constant(int head, int bits) {
    double middle = ((1 << bits) - 1) / 2.0;
    return (float) (middle * roundingErrors[head] + offsets[head]);
  }

  /** Fills {@link Views#constants} for every head, valid until the next call. */
  public void fillConstants(int bits) {
    for (int head = 0; head < heads; head++) {
      constants[head] = constant(head, bits);
    }
  }

  /** Sets a value that is added to every column of a head, such as the sum of {@code x * zero}. */
  public void setOffset(int head, float offset) {
    offsets[head] = offset;
  }

  /** Throws if the layout or the output does not match this operand. */
  public void requireFit(WordLayout layout, int tiles, RowBlock out) {
    requireDepth(layout.rows());
    out.requireShape(heads, tiles * WordLayout.TILE);
  }

  /** Throws if codes have another depth than this operand. */
  public void requireDepth(int codes) {
    if (codes != 4 * quads()) {
      throw new IllegalArgumentException(
          "depth is %d; the operand has %d".formatted(codes, 4 * quads()));
    }
  }
}
