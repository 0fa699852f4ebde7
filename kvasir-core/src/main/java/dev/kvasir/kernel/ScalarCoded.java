package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Products with coded weights in plain Java: the definition, to the last bit. */
final class ScalarCoded implements CodedKernels {
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final int TILE_ROWS = CodedMatrix.TILE_ROWS;

  private static final ThreadLocal<short[]> LANES_OF_A_TILE =
      ThreadLocal.withInitial(() -> new short[0]);

  @Override
  public void prepare(CodedRow row, float[] x, int at, int columns) {
    row.code(x, at, columns);
  }

  /**
   * A tile's codes are copied to an array first: until code is compiled, reading a segment value by
   * value is slower by an order of magnitude than reading an array.
   */
  @Override
  public void product(
      CodedMatrix matrix, int firstTile, int endTile, CodedRow row, float[] out, int outAt) {
    short[] lanes = scratch(matrix);
    for (int tile = firstTile; tile < endTile; tile++) {
      copyLanes(matrix, tile, lanes);
      int count = Math.min(TILE_ROWS, matrix.rows() - tile * TILE_ROWS);
      for (int r = 0; r < count; r++) {
        out[outAt + (tile - firstTile) * TILE_ROWS + r] = codedDot(matrix, tile, r, lanes, row);
      }
    }
  }

  private static short[] scratch(CodedMatrix matrix) {
    int size = matrix.columns() * matrix.codeBits() / 16 * TILE_ROWS;
    short[] lanes = LANES_OF_A_TILE.get();
    if (lanes.length < size) {
      lanes = new short[size];
      LANES_OF_A_TILE.set(lanes);
    }
    return lanes;
  }

  private static void copyLanes(CodedMatrix matrix, int tile, short[] lanes) {
    int count = matrix.columns() * matrix.codeBits() / 16 * TILE_ROWS;
    MemorySegment.copy(matrix.codes(), SHORT, matrix.codesOffset(tile), lanes, 0, count);
  }

  private static float codedDot(
      CodedMatrix matrix, int tile, int rowInTile, short[] lanes, CodedRow row) {
    int length = matrix.groupLength();
    int lanesPerGroup = length * matrix.codeBits() / 16;
    int r = tile * TILE_ROWS + rowInTile;
    float total = 0;
    for (int group = 0; group < matrix.groups(); group++) {
      int lane = group * lanesPerGroup * TILE_ROWS + rowInTile;
      int end = lane + lanesPerGroup * TILE_ROWS;
      int integer =
          matrix.codeBits() == 8
              ? pairs(lanes, lane, end, row.codes(), group * length)
              : quads(lanes, lane, end, row.codes(), group * length);
      float activationScale = row.scales()[group * length / CodedRow.GROUP];
      total = Math.fma((float) integer, matrix.scale(r, group) * activationScale, total);
    }
    if (matrix.hasMinimums()) {
      float[] sums = row.sums();
      for (int group = 0; group < matrix.groups(); group++) {
        float sum =
            length == CodedRow.SUM_GROUP ? sums[group] : sums[2 * group] + sums[2 * group + 1];
        total = Math.fma(matrix.minimum(r, group), sum, total);
      }
    }
    return total;
  }

  private static int pairs(short[] lanes, int from, int end, byte[] activations, int at) {
    int sum = 0;
    int column = at;
    for (int lane = from; lane < end; lane += TILE_ROWS) {
      int bits = lanes[lane];
      sum += ((bits & 0xFF) - 128) * activations[column] + (bits >> 8) * activations[column + 1];
      column += 2;
    }
    return sum;
  }

  private static int quads(short[] lanes, int from, int end, byte[] activations, int at) {
    int sum = 0;
    int column = at;
    for (int lane = from; lane < end; lane += TILE_ROWS) {
      int bits = lanes[lane];
      sum += (bits & 15) * activations[column] + (bits >>> 4 & 15) * activations[column + 1];
      sum += (bits >>> 8 & 15) * activations[column + 2];
      sum += (bits >>> 12 & 15) * activations[column + 3];
      column += 4;
    }
    return sum;
  }

  @Override
  public void expand(CodedMatrix matrix, int firstRow, int count, float[] out, int outAt) {
    for (int r = 0; r < count; r++) {
      expandCodes(matrix, firstRow + r, out, outAt + r * matrix.columns());
    }
  }

  private static void expandCodes(CodedMatrix matrix, int row, float[] out, int outAt) {
    int columnsPerLane = 16 / matrix.codeBits();
    MemorySegment codes = matrix.codes();
    long lane = matrix.laneOffset(row, 0);
    int at = outAt;
    for (int group = 0; group < matrix.groups(); group++) {
      float scale = matrix.scale(row, group);
      float minimum = matrix.minimum(row, group);
      for (int i = 0; i < matrix.groupLength(); i += columnsPerLane) {
        int bits = codes.get(SHORT, lane);
        lane += 2 * TILE_ROWS;
        if (columnsPerLane == 2) {
          out[at++] = ((bits & 0xFF) - 128) * scale + minimum;
          out[at++] = (bits >> 8) * scale + minimum;
        } else {
          out[at++] = (bits & 15) * scale + minimum;
          out[at++] = (bits >>> 4 & 15) * scale + minimum;
          out[at++] = (bits >>> 8 & 15) * scale + minimum;
          out[at++] = (bits >>> 12 & 15) * scale + minimum;
        }
      }
    }
  }
}
