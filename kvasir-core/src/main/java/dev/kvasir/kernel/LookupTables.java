package dev.kvasir.kernel;

import dev.kvasir.page.PlaneLayout;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * What the look-ups of a {@link dev.kvasir.page.PlaneLayout} look up: for each head and each quad
 * of entries the sixteen subset sums of the quad's four weights, as bytes. Index bit k stands for
 * entry c + kQ. The tables do not depend on the width of the codes.
 *
 * <p>A subset sum is measured from the quad's lowest, in steps of the head's largest sum of
 * magnitudes / 85, so that the sums of two planes, {@code T[i0] + 2 T[i1] <= 3 * 85 = 255}, add up
 * within a byte, and those of 256 quads within 16 bits. In exact mode a sum has two digits, and the
 * second counts steps of 1/64; in fast mode it is rounded to the nearest step.
 *
 * <pre>
 * table 0 .. heads-1, the first digit; in exact mode heads .. 2 heads - 1, the second
 *   for pairs of planes, quad 0 .. Q-1: | T: 16 bytes | 2 T: 16 bytes |
 *   for a single plane, whose bytes hold two quads, quad 0 .. Q-1: | T: 16 bytes |
 * </pre>
 *
 * where Q is rounded up to a multiple of four and the tables beyond the last are zeros: vectors
 * fill four at a time, and a single plane's last byte may hold but one quad. In both forms a row of
 * codes finds the table of its low nibbles, and sixteen bytes on that of its high ones.
 *
 * <p>With A = the sum over planes p and quads of {@code 2^p T[nibble]}, a lane's result is {@code
 * unit * A + (2^bits - 1) * constant + offset}. A table should be right on the average over its
 * indices, and the average of a quad's subset sums is half the sum of its weights; so {@code
 * constant = sum of weights / 2 - unit * sum over quads of the mean of T}. That undoes the
 * measuring from the lowest sum and the bias of the rounding at once. Without it a weight well
 * below the step would vanish; with it such a weight counts with the middle of the codes.
 *
 * <p>An entry is off by less than a step after the mean is taken out, so a result is off by less
 * than {@code (2^bits - 1) * Q * step}, 1/85 of the sum of all magnitudes where quads weigh alike;
 * independent errors leave about a tenth of that. In exact mode an entry is off by less than 1/32
 * of a step, half of it from the rounding of the weights, and a result most often by a 64th of what
 * fast mode leaves.
 */
public final class LookupTables {
  public static final int MOST_HEADS = 8;

  /** Sums of bytes fit 16 bits: 256 quads * 255 is 65280. */
  public static final int MOST_ENTRIES = 1024;

  /** The largest entry: three of them fit a byte. */
  public static final int LIMIT = 85;

  /** Bits of the second digit. */
  public static final int FINE_BITS = 6;

  /** Bits below the step that weights keep until their subset sums are rounded. */
  public static final int FIXED_BITS = 8;

  /** Bytes of a quad's subset sums. */
  public static final int SUMS = 16;

  /** Bytes from the tables of one row of codes to those of the next. */
  public static final int ROW_BYTES = 2 * SUMS;

  /** Bytes that a quad has in one table, in both forms. */
  private static final int QUAD_BYTES = 3 * SUMS;

  /** Adding this leaves a float's nearest integer in its low bits. */
  public static final float ROUNDER = 0x1.8p23f;

  /**
   * Below this a step's inverse would overflow: such weights count with the middle of the codes.
   */
  private static final float LEAST_LARGEST = 1e-30f;

  private final byte[] bytes;
  private final int[] fixedPoint;
  private final int mostHeads;
  private final int mostEntries;
  private final float[] steps;
  private final float[] units;
  private final float[] constants;
  private final float[] offsets;
  private final float[] surveys;
  private final Views views;
  private final float[] added;
  private final int[] tileSums = new int[PlaneLayout.TILE];
  private byte[] tileCodes = {};
  private int heads;
  private int quads;
  private boolean exact;

  /** Room for so many heads and entries; {@link #begin} says how many there are. */
  public LookupTables(int mostHeads, int mostEntries) {
    requireWithin("heads", mostHeads, MOST_HEADS);
    requireWithin("entries", mostEntries, MOST_ENTRIES);
    this.mostHeads = mostHeads;
    this.mostEntries = mostEntries;
    int mostQuads = padded(mostEntries / 4);
    bytes = new byte[mostQuads * 2 * mostHeads * QUAD_BYTES];
    fixedPoint = new int[mostHeads * 5 * mostQuads];
    steps = new float[mostHeads];
    units = new float[mostHeads];
    constants = new float[mostHeads];
    offsets = new float[mostHeads];
    surveys = new float[2 * mostHeads];
    added = new float[mostHeads];
    views =
        new Views(
            MemorySegment.ofArray(bytes),
            MemorySegment.ofArray(fixedPoint),
            MemorySegment.ofArray(surveys),
            MemorySegment.ofArray(units),
            MemorySegment.ofArray(added));
  }

  /**
   * The arrays as segments, for kernels that are no Java.
   *
   * @param constants what {@link #fillConstants} fills
   */
  public record Views(
      MemorySegment bytes,
      MemorySegment fixedPoint,
      MemorySegment surveys,
      MemorySegment units,
      MemorySegment constants) {}

  public Views views() {
    return views;
  }

  private static void requireWithin(String what, int value, int most) {
    if (value < 1 || value > most) {
      throw new IllegalArgumentException("%s is %d; expected 1 to %d".formatted(what, value, most));
    }
  }

  /** Takes a new shape; the tables of each head are to be filled. */
  public void begin(int heads, int entries, boolean exact) {
    requireWithin("heads", heads, mostHeads);
    requireWithin("entries", entries, mostEntries);
    if (entries % 4 != 0) {
      throw new IllegalArgumentException(
          "entries is %d; expected a multiple of 4".formatted(entries));
    }
    this.heads = heads;
    this.quads = entries / 4;
    this.exact = exact;
    Arrays.fill(offsets, 0);
    for (int table = 0; table < tables(); table++) {
      int end = padded(quads);
      Arrays.fill(bytes, pairAt(table, quads), pairAt(table, end), (byte) 0);
      Arrays.fill(bytes, singleAt(table, quads), singleAt(table, end), (byte) 0);
    }
  }

  private static int padded(int quads) {
    return Math.ceilDiv(quads, 4) * 4;
  }

  /**
   * Fixes a head's step.
   *
   * @param largest the largest sum of magnitudes of a quad
   * @return what turns a weight into a fixed-point number of steps
   */
  public float scale(int head, float largest) {
    boolean vanishing = largest < LEAST_LARGEST;
    steps[head] = vanishing ? 0 : largest / LIMIT;
    return vanishing ? 0 : (LIMIT << FIXED_BITS) / largest;
  }

  /**
   * Fixes what a head's sums are multiplied by, and what is added.
   *
   * @param weights the sum of all weights
   * @param coarse the sum of all first digits
   * @param fine the sum of all second digits
   */
  public void complete(int head, float weights, int coarse, int fine) {
    double unit = exact ? steps[head] / (1 << FINE_BITS) : steps[head];
    int total = exact ? (coarse << FINE_BITS) + fine : coarse;
    units[head] = (float) unit;
    constants[head] = (float) (0.5 * weights - unit * total / SUMS);
  }

  /** The tables themselves. */
  public byte[] bytes() {
    return bytes;
  }

  /**
   * Room for the one who fills the tables: for each head and quad its four weights as fixed-point
   * numbers of steps, and where its subset sums begin, in any order.
   */
  public int[] fixedPoint() {
    return fixedPoint;
  }

  /** Room for the one who fills the tables: two numbers of each head. */
  public float[] surveys() {
    return surveys;
  }

  /** Room for the one who looks up plainly: a tile's codes. */
  byte[] tileCodes(int count) {
    if (tileCodes.length < count) {
      tileCodes = new byte[count];
    }
    return tileCodes;
  }

  /** And its sums for one head. */
  int[] tileSums() {
    return tileSums;
  }

  /**
   * What rounds a fixed-point sum: half of the last digit that is kept. Weights are rounded too, by
   * a half each, and still the largest sum stays below 86 steps.
   */
  public int rounding() {
    return exact ? 1 << FIXED_BITS - FINE_BITS - 1 : 1 << FIXED_BITS - 1;
  }

  public int heads() {
    return heads;
  }

  public int quads() {
    return quads;
  }

  public boolean exact() {
    return exact;
  }

  /** Tables of a quad: one or two a head. */
  public int tables() {
    return exact ? 2 * heads : heads;
  }

  /** Where a quad's subset sums lie, followed by twice the same. */
  public int pairAt(int table, int quad) {
    return table * padded(quads) * QUAD_BYTES + quad * ROW_BYTES;
  }

  /** Where a quad's subset sums lie, followed by those of the next quad. */
  public int singleAt(int table, int quad) {
    return pairAt(table, padded(quads)) + quad * SUMS;
  }

  /** The largest error that rounding leaves in an entry, after the mean is taken out. */
  public float step(int head) {
    return steps[head];
  }

  /** What an integer sum of a head is multiplied by. */
  public float unit(int head) {
    return units[head];
  }

  /** What is added to every lane of a head, for codes of that width. */
  public float constant(int head, int bits) {
    return ((1 << bits) - 1) * constants[head] + offsets[head];
  }

  /** Fills the {@link Views#constants} of every head, until the next call. */
  public void fillConstants(int bits) {
    for (int head = 0; head < heads; head++) {
      added[head] = constant(head, bits);
    }
  }

  /** A number of the caller's that is to be added to every lane of a head too, such as zeros. */
  public void offset(int head, float offset) {
    offsets[head] = offset;
  }

  /** Refuses a grid of codes that the tables were not made for. */
  public void requireEntries(int entries) {
    if (entries != 4 * quads) {
      throw new IllegalArgumentException(
          "entries is %d; the tables are for %d".formatted(entries, 4 * quads));
    }
  }
}
