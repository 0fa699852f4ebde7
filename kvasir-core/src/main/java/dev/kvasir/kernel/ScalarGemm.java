package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The reference GEMM with quantized weights in plain Java, which defines results to the last bit.
 *
 * <p>The JIT vectorizes long loops that traverse arrays in step. The kernel therefore gathers the
 * words of a group of columns over many rows of weights, then multiplies all activations with them.
 *
 * <p>Nibbles and bytes are multiplied without being unpacked; other codes become bytes first. A
 * word v of four codes is B0 + 256 * (v >> 8) with B0 the lowest byte, and so on with v >> 8, so
 * that
 *
 * <pre>
 * B0 * a0 + B1 * a1 + B2 * a2 + b3 * a3
 *     = v * a0 + (v >> 8) * (a1 - 256 * a0) + (v >> 16) * (a2 - 256 * a1) + (v >> 24) * (a3 - 256 * a2)
 * </pre>
 *
 * <p>modulo 2^32, which holds the sum of a group: 32 * 128 * 127 at most. Bytes B are unsigned,
 * {@code code + 128}; the excess is subtracted afterwards. Nibbles are unsigned already.
 */
final class ScalarGemm implements GemmKernels {
  private static final int TILE_ROWS = QuantizedWeights.TILE_ROWS;

  /** Makes the lower three bytes of a word unsigned; the highest stays signed. */
  static final int LIFT = 0x00808080;

  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  @Override
  public void quantize(QuantizedActivations activations, float[] x, int first, int end) {
    for (int row = first; row < end; row++) {
      activations.quantize(row, x, row * activations.columns());
    }
    if (activations.rows() == 1) {
      activations.setWordFactors();
    }
  }

  @Override
  public void products(
      QuantizedWeights matrix,
      int firstTile,
      int endTile,
      QuantizedActivations activations,
      int firstRow,
      RowBlock out,
      TileWorkspace workspace) {
    matrix.requireOutputs(firstRow, out);
    if (TileProducts.fits(matrix) && activations.wordFactors().isSet()) {
      TileProducts products = workspace.products();
      for (int tile = firstTile; tile < endTile; tile++) {
        products.multiply(matrix, tile, activations, out.values(), out.at(0) + tile * TILE_ROWS);
      }
      return;
    }
    WeightPanel panel = workspace.panel();
    for (int tile = firstTile; tile < endTile; tile += WeightPanel.TILES) {
      panel.begin(out.rows());
      int end = Math.min(tile + WeightPanel.TILES, endTile);
      for (int group = 0; group < matrix.groups(); group++) {
        panel.take(matrix, tile, end, group);
        for (int i = 0; i < out.rows(); i++) {
          addGroup(matrix, group, activations, firstRow + i, panel, panel.totals(i));
        }
      }
      for (int group = 0; matrix.hasMinimums() && group < matrix.groups(); group++) {
        panel.takeMinimums(matrix, tile, end, group);
        for (int i = 0; i < out.rows(); i++) {
          addMinimums(matrix, group, activations, firstRow + i, panel, panel.totals(i));
        }
      }
      int width = Math.min(end * TILE_ROWS, matrix.rows()) - tile * TILE_ROWS;
      for (int i = 0; i < out.rows(); i++) {
        float[] totals = panel.totals(i);
        System.arraycopy(totals, 0, out.values(), out.at(i) + tile * TILE_ROWS, width);
      }
    }
  }

  private static void addGroup(
      QuantizedWeights matrix,
      int group,
      QuantizedActivations activations,
      int row,
      WeightPanel panel,
      float[] totals) {
    int column = group * matrix.groupLength();
    int at = activations.codesAt(row) + column;
    float[] sums = panel.sums();
    int count = panel.rows();
    if (matrix.coding() == WeightCodes.NIBBLES) {
      for (int c = 0; c < matrix.groupLength(); c += 8) {
        addLowerNibbles(panel.words(c / 8), activations.codes(), at + c, sums, count);
        addUpperNibbles(panel.words(c / 8), activations.codes(), at + c, sums, count);
      }
    } else {
      for (int c = 0; c < matrix.groupLength(); c += 4) {
        addBytes(panel.words(c / 4), activations.codes(), at + c, sums, count);
      }
    }
    float scale =
        activations.scales()[activations.scalesAt(row) + column / QuantizedActivations.GROUP];
    float[] scales = panel.scales();
    for (int r = 0; r < count; r++) {
      totals[r] = Math.fma(sums[r], scales[r] * scale, totals[r]);
      sums[r] = 0;
    }
  }

  /** Adds the products of a word's four columns. */
  private static void addBytes(int[] words, byte[] x, int at, float[] sums, int count) {
    int a0 = x[at];
    int a1 = x[at + 1] - 256 * x[at];
    int a2 = x[at + 2] - 256 * x[at + 1];
    int a3 = x[at + 3] - 256 * x[at + 2];
    int lifted = -128 * (x[at] + x[at + 1] + x[at + 2]);
    for (int r = 0; r < count; r++) {
      int v = words[r] ^ LIFT;
      sums[r] += (float) (v * a0 + (v >> 8) * a1 + (v >> 16) * a2 + (v >> 24) * a3 + lifted);
    }
  }

  /** Adds the products of columns 0, 4, 1 and 5: the four lowest nibbles of a word. */
  private static void addLowerNibbles(int[] words, byte[] x, int at, float[] sums, int count) {
    int a0 = x[at];
    int a1 = x[at + 4] - 16 * x[at];
    int a2 = x[at + 1] - 16 * x[at + 4];
    int a3 = x[at + 5] - 16 * x[at + 1];
    for (int r = 0; r < count; r++) {
      int v = words[r] & 0xFFFF;
      sums[r] += (float) (v * a0 + (v >> 4) * a1 + (v >> 8) * a2 + (v >> 12) * a3);
    }
  }

  /** Adds the products of columns 2, 6, 3 and 7: the four highest nibbles of a word. */
  private static void addUpperNibbles(int[] words, byte[] x, int at, float[] sums, int count) {
    int a0 = x[at + 2];
    int a1 = x[at + 6] - 16 * x[at + 2];
    int a2 = x[at + 3] - 16 * x[at + 6];
    int a3 = x[at + 7] - 16 * x[at + 3];
    for (int r = 0; r < count; r++) {
      int v = words[r] >>> 16;
      sums[r] += (float) (v * a0 + (v >> 4) * a1 + (v >> 8) * a2 + (v >> 12) * a3);
    }
  }

  private static void addMinimums(
      QuantizedWeights matrix,
      int group,
      QuantizedActivations activations,
      int row,
      WeightPanel panel,
      float[] totals) {
    float[] sums = activations.sums();
    int at = activations.sumsAt(row);
    float sum =
        matrix.groupLength() == QuantizedActivations.SUM_GROUP
            ? sums[at + group]
            : sums[at + 2 * group] + sums[at + 2 * group + 1];
    float[] minimums = panel.scales();
    int count = panel.rows();
    for (int r = 0; r < count; r++) {
      totals[r] = Math.fma(minimums[r], sum, totals[r]);
    }
  }

  @Override
  public void dequantize(QuantizedWeights matrix, int firstRow, int count, float[] out, int outAt) {
    for (int r = 0; r < count; r++) {
      matrix.dequantizeRow(firstRow + r, out, outAt + r * matrix.columns());
    }
  }

  /**
   * Some rows of weights, one group of columns at a time: words of codes, scales, and the totals of
   * rows of activations. Arrays start at index zero and are traversed in step; otherwise the JIT
   * would have to assume that they overlap.
   */
  static final class WeightPanel {
    static final int TILES = 16;
    private static final int ROWS = TILES * TILE_ROWS;

    /** Repeats a number in each byte of a word. */
    private static final int EACH_BYTE = 0x01010101;

    private static final int MAX_WORDS = QuantizedActivations.GROUP / Integer.BYTES;

    private final int[] tileWords = new int[MAX_WORDS * TILE_ROWS]; // (words, rows of a tile)
    private final int[][] words = new int[MAX_WORDS][ROWS];
    private final float[] scales = new float[ROWS];
    private final float[] sums = new float[ROWS];
    private float[][] totals = {}; // (activations, ROWS)
    private int rows;

    /** Clears the totals of {@code activations} rows. */
    void begin(int activations) {
      if (totals.length < activations) {
        totals = new float[activations][ROWS];
      }
      for (int i = 0; i < activations; i++) {
        Arrays.fill(totals[i], 0);
      }
    }

    /** Returns the rows of the loaded tiles. */
    int rows() {
      return rows;
    }

    /** Loads a group of some tiles. */
    void take(QuantizedWeights matrix, int firstTile, int endTile, int group) {
      rows = (endTile - firstTile) * TILE_ROWS;
      WeightCodes coding = matrix.coding();
      int count = matrix.groupLength() * coding.bits() / Integer.SIZE * TILE_ROWS;
      for (int tile = firstTile; tile < endTile; tile++) {
        long from = matrix.codesOffset(tile) + (long) group * count * Integer.BYTES;
        MemorySegment.copy(matrix.codes(), INT, from, tileWords, 0, count);
        int to = (tile - firstTile) * TILE_ROWS;
        if (coding == WeightCodes.NIBBLES || coding == WeightCodes.BYTES) {
          for (int word = 0; word < count / TILE_ROWS; word++) {
            System.arraycopy(tileWords, word * TILE_ROWS, words[word], to, TILE_ROWS);
          }
        } else {
          unpack(coding, matrix.groupLength(), to);
        }
      }
      for (int tile = firstTile; tile < endTile; tile++) {
        matrix.copyScales(tile, group, scales, (tile - firstTile) * TILE_ROWS);
      }
    }

    /**
     * Unpacks the words of a tile's group, see {@link QuantizedWeights}, to words of four bytes.
     */
    private void unpack(WeightCodes coding, int groupLength, int to) {
      int upperBits = coding.upperBits();
      int quads = upperBits == 0 ? 2 : 8 / upperBits; // of a run
      int runWords = quads / 2 + (upperBits == 0 ? 0 : 1);
      int upperMask = ((1 << upperBits) - 1) * EACH_BYTE;
      for (int quad = 0; quad < groupLength / 4; quad++) {
        int run = quad / quads * runWords;
        int nibbles = (run + quad % quads / 2) * TILE_ROWS;
        int uppers = (run + quads / 2) * TILE_ROWS;
        for (int row = 0; row < TILE_ROWS; row++) {
          int stored = tileWords[nibbles + row] >>> 4 * (quad % 2) & 15 * EACH_BYTE;
          if (upperBits > 0) {
            stored |= (tileWords[uppers + row] >>> quad % quads * upperBits & upperMask) << 4;
          }
          words[quad][to + row] =
              coding.areLevels() ? levels(coding, stored) : lowered(stored, -coding.lowest());
        }
      }
    }

    /** Subtracts up to 128 from each byte, which is below 64: the highest bit takes the borrow. */
    private static int lowered(int bytes, int amount) {
      int highest = 0x80 * EACH_BYTE;
      return (bytes | highest) - amount * EACH_BYTE ^ highest;
    }

    private static int levels(WeightCodes coding, int indices) {
      int bytes = 0;
      for (int shift = 0; shift < Integer.SIZE; shift += Byte.SIZE) {
        bytes |= (coding.code(indices >>> shift & 15) & 0xFF) << shift;
      }
      return bytes;
    }

    /** Loads a group's minimums in place of its scales. */
    void takeMinimums(QuantizedWeights matrix, int firstTile, int endTile, int group) {
      for (int tile = firstTile; tile < endTile; tile++) {
        matrix.copyMinimums(tile, group, scales, (tile - firstTile) * TILE_ROWS);
      }
    }

    int[] words(int word) {
      return words[word];
    }

    float[] scales() {
      return scales;
    }

    float[] sums() {
      return sums;
    }

    float[] totals(int activation) {
      return totals[activation];
    }
  }
}
