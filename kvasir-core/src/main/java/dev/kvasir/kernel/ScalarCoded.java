package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Products with coded weights in plain Java: the definition, to the last bit.
 *
 * <p>Compilers make vectors of loops that walk arrays in step and are long. So the columns of a
 * group become floats first, an array each over many rows of weights, and all activations meet
 * those. A group's sum stays below 2^24, which floats hold exactly: 32 * 128 * 127 = 520,192.
 */
final class ScalarCoded implements CodedKernels {
  private static final int TILE_ROWS = CodedMatrix.TILE_ROWS;

  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  @Override
  public void prepare(CodedRows rows, float[] x, int first, int end) {
    for (int row = first; row < end; row++) {
      rows.code(row, x, row * rows.columns());
    }
  }

  @Override
  public void products(
      CodedMatrix matrix,
      int firstTile,
      int endTile,
      CodedRows rows,
      int firstRow,
      int endRow,
      float[] out,
      TileRoom room) {
    WeightPanel panel = room.panel();
    for (int tile = firstTile; tile < endTile; tile += WeightPanel.TILES) {
      panel.begin(endRow - firstRow);
      int end = Math.min(tile + WeightPanel.TILES, endTile);
      for (int group = 0; group < matrix.groups(); group++) {
        panel.take(matrix, tile, end, group);
        for (int i = firstRow; i < endRow; i++) {
          addGroup(matrix, group, rows, i, panel, panel.totals(i - firstRow));
        }
      }
      for (int group = 0; matrix.hasMinimums() && group < matrix.groups(); group++) {
        panel.takeMinimums(matrix, tile, end, group);
        for (int i = firstRow; i < endRow; i++) {
          addMinimums(matrix, group, rows, i, panel, panel.totals(i - firstRow));
        }
      }
      int width = Math.min(end * TILE_ROWS, matrix.rows()) - tile * TILE_ROWS;
      for (int i = firstRow; i < endRow; i++) {
        float[] totals = panel.totals(i - firstRow);
        System.arraycopy(totals, 0, out, i * matrix.rows() + tile * TILE_ROWS, width);
      }
    }
  }

  private static void addGroup(
      CodedMatrix matrix, int group, CodedRows rows, int row, WeightPanel panel, float[] totals) {
    int column = group * matrix.groupLength();
    int at = rows.codesAt(row) + column;
    float[] sums = panel.sums();
    for (int c = 0; c < matrix.groupLength(); c += 8) {
      addEight(panel.columns(), c, rows.codes(), at + c, sums);
    }
    float scale = rows.scales()[rows.scalesAt(row) + column / CodedRows.GROUP];
    float[] scales = panel.scales();
    for (int r = 0; r < WeightPanel.ROWS; r++) {
      totals[r] = Math.fma(sums[r], scales[r] * scale, totals[r]);
      sums[r] = 0;
    }
  }

  /** Eight columns at a time: sums are loaded and stored once for all of them. */
  private static void addEight(float[][] columns, int c, byte[] codes, int at, float[] sums) {
    float[] w0 = columns[c];
    float[] w1 = columns[c + 1];
    float[] w2 = columns[c + 2];
    float[] w3 = columns[c + 3];
    float[] w4 = columns[c + 4];
    float[] w5 = columns[c + 5];
    float[] w6 = columns[c + 6];
    float[] w7 = columns[c + 7];
    float x0 = codes[at];
    float x1 = codes[at + 1];
    float x2 = codes[at + 2];
    float x3 = codes[at + 3];
    float x4 = codes[at + 4];
    float x5 = codes[at + 5];
    float x6 = codes[at + 6];
    float x7 = codes[at + 7];
    for (int r = 0; r < WeightPanel.ROWS; r++) {
      float low = w0[r] * x0 + w1[r] * x1 + w2[r] * x2 + w3[r] * x3;
      float high = w4[r] * x4 + w5[r] * x5 + w6[r] * x6 + w7[r] * x7;
      sums[r] += low + high;
    }
  }

  private static void addMinimums(
      CodedMatrix matrix, int group, CodedRows rows, int row, WeightPanel panel, float[] totals) {
    float[] sums = rows.sums();
    int at = rows.sumsAt(row);
    float sum =
        matrix.groupLength() == CodedRows.SUM_GROUP
            ? sums[at + group]
            : sums[at + 2 * group] + sums[at + 2 * group + 1];
    float[] minimums = panel.scales();
    for (int r = 0; r < WeightPanel.ROWS; r++) {
      totals[r] = Math.fma(minimums[r], sum, totals[r]);
    }
  }

  @Override
  public void expand(CodedMatrix matrix, int firstRow, int count, float[] out, int outAt) {
    for (int r = 0; r < count; r++) {
      matrix.expandRow(firstRow + r, out, outAt + r * matrix.columns());
    }
  }

  /**
   * Some rows of weights, one group of columns at a time: codes as floats by column, scales, and
   * what rows of activations have added up to. Arrays begin at zero and are walked in step, or
   * compilers would have to fear that one overlaps another.
   */
  static final class WeightPanel {
    static final int TILES = 16;
    static final int ROWS = TILES * TILE_ROWS;

    private static final int MOST_COLUMNS = CodedRows.GROUP;

    private final int[] words = new int[MOST_COLUMNS / 4 * TILE_ROWS];
    private final int[][] quads = new int[MOST_COLUMNS / 4][ROWS];
    private final float[][] columns = new float[MOST_COLUMNS][ROWS];
    private final float[] scales = new float[ROWS];
    private final float[] sums = new float[ROWS];
    private float[][] totals = {};

    /** Clears the totals of so many rows of activations. */
    void begin(int activations) {
      if (totals.length < activations) {
        totals = new float[activations][ROWS];
      }
      for (int i = 0; i < activations; i++) {
        Arrays.fill(totals[i], 0);
      }
    }

    /** Takes a group of some tiles; what rows of tiles that are not there hold is not said. */
    void take(CodedMatrix matrix, int firstTile, int endTile, int group) {
      int wordsOfGroup = matrix.groupLength() * matrix.codeBits() / Integer.SIZE;
      int count = wordsOfGroup * TILE_ROWS;
      for (int tile = firstTile; tile < endTile; tile++) {
        long from = matrix.codesOffset(tile) + (long) group * count * Integer.BYTES;
        MemorySegment.copy(matrix.codes(), INT, from, words, 0, count);
        for (int word = 0; word < wordsOfGroup; word++) {
          int to = (tile - firstTile) * TILE_ROWS;
          System.arraycopy(words, word * TILE_ROWS, quads[word], to, TILE_ROWS);
        }
      }
      for (int word = 0; word < wordsOfGroup; word++) {
        if (matrix.codeBits() == 8) {
          unpackBytes(quads[word], 4 * word);
        } else {
          unpackNibbles(quads[word], 8 * word);
        }
      }
      takeFloats(matrix.scales(), matrix, firstTile, endTile, group);
    }

    /** Takes a group's minimums to where scales were. */
    void takeMinimums(CodedMatrix matrix, int firstTile, int endTile, int group) {
      takeFloats(matrix.minimums(), matrix, firstTile, endTile, group);
    }

    private void takeFloats(
        MemorySegment source, CodedMatrix matrix, int firstTile, int endTile, int group) {
      for (int tile = firstTile; tile < endTile; tile++) {
        long from = matrix.scalesOffset(tile) + (long) group * TILE_ROWS * Float.BYTES;
        MemorySegment.copy(source, FLOAT, from, scales, (tile - firstTile) * TILE_ROWS, TILE_ROWS);
      }
    }

    private void unpackBytes(int[] quad, int column) {
      for (int k = 0; k < 4; k++) {
        unpack(quad, 24 - 8 * k, 24, columns[column + k]);
      }
    }

    private void unpackNibbles(int[] quad, int column) {
      for (int k = 0; k < 8; k++) {
        // Columns 0 to 3 are lower nibbles.
        unpackNibble(quad, 8 * (k % 4) + k / 4 * 4, columns[column + k]);
      }
    }

    /** Signed codes. */
    private static void unpack(int[] quad, int left, int right, float[] column) {
      for (int r = 0; r < ROWS; r++) {
        column[r] = quad[r] << left >> right;
      }
    }

    private static void unpackNibble(int[] quad, int shift, float[] column) {
      for (int r = 0; r < ROWS; r++) {
        column[r] = quad[r] >> shift & 15;
      }
    }

    float[][] columns() {
      return columns;
    }

    float[] scales() {
      return scales;
    }

    float[] sums() {
      return sums;
    }

    /** By row of activations. */
    float[] totals(int activation) {
      return totals[activation];
    }
  }
}
