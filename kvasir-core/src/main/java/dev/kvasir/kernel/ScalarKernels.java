package dev.kvasir.kernel;

import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.page.PageSize;
import dev.kvasir.page.PlaneLayout;
import dev.kvasir.page.StageCodes;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The arithmetic in plain Java: what runs without the Vector API, and what defines the results, to
 * the last bit. Floating-point sums depend on their order, so the order is part of the definition:
 * a long sum is kept in {@code lanes} partial sums, as a vector of that many lanes keeps it, which
 * are added from the first to the last, and then what is left over.
 */
public final class ScalarKernels implements Kernels {
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final int TILE_ROWS = CodedMatrix.TILE_ROWS;

  private static final ThreadLocal<short[]> LANES_OF_A_TILE =
      ThreadLocal.withInitial(() -> new short[0]);

  private static final ThreadLocal<float[]> ROW = ThreadLocal.withInitial(() -> new float[0]);

  /** What a machine with vectors of 128 bits has. */
  private static final int LEAST_LANES = 4;

  private final int lanes;

  public ScalarKernels() {
    this(LEAST_LANES);
  }

  /**
   * @param lanes partial sums of a long sum, a multiple of four: those of the vectors to agree with
   */
  public ScalarKernels(int lanes) {
    if (lanes < LEAST_LANES || lanes % LEAST_LANES != 0) {
      throw new IllegalArgumentException(
          "lanes is %d; expected a multiple of %d".formatted(lanes, LEAST_LANES));
    }
    this.lanes = lanes;
  }

  @Override
  public String name() {
    return "scalar Java";
  }

  @Override
  public void prepare(CodedRow row, float[] x, int at, int columns, int codeBits) {
    row.code(x, at, columns);
  }

  /**
   * A tile's codes are copied to an array first: until code is compiled, reading a segment value by
   * value is slower by an order of magnitude than reading an array.
   */
  @Override
  public void codedProduct(
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
  public void expand(Matrix matrix, int firstRow, int count, float[] out, int outAt) {
    switch (matrix) {
      case DenseMatrix dense -> {
        int values = count * dense.columns();
        long offset = dense.offset(firstRow);
        switch (dense.precision()) {
          case F32 -> MemorySegment.copy(dense.data(), FLOAT, offset, out, outAt, values);
          case F16 -> expandHalf(dense.data(), offset, out, outAt, values);
          case BF16 -> expandBrainHalf(dense.data(), offset, out, outAt, values);
        }
      }
      case CodedMatrix coded -> {
        for (int r = 0; r < count; r++) {
          expandCodes(coded, firstRow + r, out, outAt + r * coded.columns());
        }
      }
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

  private static void expandBrainHalf(
      MemorySegment source, long offset, float[] out, int outAt, int count) {
    for (int i = 0; i < count; i++) {
      out[outAt + i] = Float.intBitsToFloat(source.get(SHORT, offset + 2L * i) << 16);
    }
  }

  @Override
  public void expandHalf(MemorySegment source, long offset, float[] out, int outAt, int count) {
    for (int i = 0; i < count; i++) {
      out[outAt + i] = Float.float16ToFloat(source.get(SHORT, offset + 2L * i));
    }
  }

  @Override
  public void products(
      float[] a,
      int aAt,
      int aStride,
      int aRows,
      float[] b,
      int bAt,
      int bStride,
      int bRows,
      int depth,
      float[] c,
      int cAt,
      int cStride) {
    for (int i = 0; i < aRows; i++) {
      for (int j = 0; j < bRows; j++) {
        c[cAt + i * cStride + j] = dot(a, aAt + i * aStride, b, bAt + j * bStride, depth);
      }
    }
  }

  /** Four partial sums at a time, which hides some of the latency of each. */
  private float dot(float[] a, int aAt, float[] b, int bAt, int depth) {
    int whole = depth - depth % lanes;
    float sum = 0;
    for (int lane = 0; lane < lanes; lane += LEAST_LANES) {
      float s0 = 0;
      float s1 = 0;
      float s2 = 0;
      float s3 = 0;
      for (int k = lane; k < whole; k += lanes) {
        s0 = Math.fma(a[aAt + k], b[bAt + k], s0);
        s1 = Math.fma(a[aAt + k + 1], b[bAt + k + 1], s1);
        s2 = Math.fma(a[aAt + k + 2], b[bAt + k + 2], s2);
        s3 = Math.fma(a[aAt + k + 3], b[bAt + k + 3], s3);
      }
      sum = sum + s0 + s1 + s2 + s3;
    }
    for (int k = whole; k < depth; k++) {
      sum = Math.fma(a[aAt + k], b[bAt + k], sum);
    }
    return sum;
  }

  @Override
  public void pickedProducts(
      float[] a,
      int aRows,
      float[] b,
      int[] picked,
      int pickedAt,
      int count,
      int depth,
      float[] c,
      int cAt,
      int cStride) {
    for (int i = 0; i < aRows; i++) {
      for (int j = 0; j < count; j++) {
        c[cAt + i * cStride + j] += dot(a, i * depth, b, picked[pickedAt + j] * depth, depth);
      }
    }
  }

  @Override
  public void turn(
      float[] vectors, int at, int count, int pairs, float[] cosines, float[] sines, int anglesAt) {
    for (int row = at; row < at + count * 2 * pairs; row += 2 * pairs) {
      for (int i = 0; i < pairs; i++) {
        float cos = cosines[anglesAt + i];
        float sin = sines[anglesAt + i];
        float x = vectors[row + i];
        float y = vectors[row + pairs + i];
        vectors[row + i] = Math.fma(-y, sin, x * cos);
        vectors[row + pairs + i] = Math.fma(x, sin, y * cos);
      }
    }
  }

  @Override
  public void unpackStages(MemorySegment source, long offset, int stages, byte[] indices) {
    StageCodes.unpack(source, offset, stages, indices);
  }

  @Override
  public void rowSums(FixedRows rows, byte[] indices, int tokens, short[] sums) {
    int pairs = rows.pairs();
    for (int token = 0; token < tokens; token++) {
      int to = token * 2 * pairs;
      Arrays.fill(sums, to, to + 2 * pairs, (short) (-FixedRows.ZERO * rows.sets()));
      for (int set = 0; set < rows.sets(); set++) {
        int from = (set * FixedRows.ROWS + indices[set * PageSize.TOKENS + token]) * 2 * pairs;
        for (int i = 0; i < pairs; i++) {
          sums[to + i] += (short) (rows.rows()[from + 2 * i] & 0xFF);
          sums[to + pairs + i] += (short) (rows.rows()[from + 2 * i + 1] & 0xFF);
        }
      }
    }
  }

  @Override
  public void turnedSums(
      short[] sums,
      int tokens,
      FixedRows rows,
      float[] scales,
      float[] cosines,
      float[] sines,
      float[] out) {
    int pairs = rows.pairs();
    for (int token = 0; token < tokens; token++) {
      int at = token * 2 * pairs;
      for (int i = 0; i < pairs; i++) {
        float factor = rows.units()[i] * scales[token];
        float x = Math.fma(sums[at + i], factor, rows.mean()[i]);
        float y = Math.fma(sums[at + pairs + i], factor, rows.mean()[pairs + i]);
        float cos = cosines[token * pairs + i];
        float sin = sines[token * pairs + i];
        out[at + i] = Math.fma(-y, sin, x * cos);
        out[at + pairs + i] = Math.fma(x, sin, y * cos);
      }
    }
  }

  @Override
  public void pickedSums(
      float[] rows, int at, byte[] indices, int sets, int tokens, int width, float[] sums) {
    for (int token = 0; token < tokens; token++) {
      int to = token * width;
      Arrays.fill(sums, to, to + width, 0);
      for (int set = 0; set < sets; set++) {
        int from = at + (set * FixedRows.ROWS + indices[set * PageSize.TOKENS + token]) * width;
        for (int i = 0; i < width; i++) {
          sums[to + i] += rows[from + i];
        }
      }
    }
  }

  @Override
  public void rowProducts(float[] a, float[] b, int count, int width, float[] out) {
    for (int i = 0; i < count; i++) {
      out[i] = dot(a, i * width, b, i * width, width);
    }
  }

  @Override
  public void collect(
      byte[] indices, int sets, int tokens, float[] weights, int lanes, float[] bins) {
    for (int token = 0; token < tokens; token++) {
      for (int set = 0; set < sets; set++) {
        int bin = (set * FixedRows.ROWS + indices[set * PageSize.TOKENS + token]) * lanes;
        for (int lane = 0; lane < lanes; lane++) {
          bins[bin + lane] += weights[token * lanes + lane];
        }
      }
    }
  }

  @Override
  public void weightedSums(
      float[] weights,
      int weightsAt,
      int weightsStride,
      int rows,
      float[] v,
      int vAt,
      int vStride,
      int tokens,
      int length,
      float[] out,
      int outAt,
      int outStride) {
    for (int i = 0; i < rows; i++) {
      for (int t = 0; t < tokens; t++) {
        float weight = weights[weightsAt + i * weightsStride + t];
        for (int d = 0; d < length; d++) {
          int at = outAt + i * outStride + d;
          out[at] = Math.fma(weight, v[vAt + t * vStride + d], out[at]);
        }
      }
    }
  }

  @Override
  public void prepare(
      HalfQueries queries, float[] a, int at, int rows, int columns, Precision precision) {
    queries.take(a, at, rows, columns);
  }

  @Override
  public void halfProducts(
      HalfQueries queries,
      DenseMatrix b,
      int firstRow,
      int bRows,
      float[] c,
      int cAt,
      int cStride) {
    queries.requireColumns(b);
    int columns = b.columns();
    float[] row = rowScratch(columns);
    for (int j = 0; j < bRows; j++) {
      expand(b, firstRow + j, 1, row, 0);
      for (int i = 0; i < queries.count(); i++) {
        c[cAt + i * cStride + j] = pairedDot(queries.rows(), i * columns, row, columns);
      }
    }
  }

  private static float[] rowScratch(int columns) {
    float[] row = ROW.get();
    if (row.length < columns) {
      row = new float[columns];
      ROW.set(row);
    }
    return row;
  }

  /** A partial sum takes two neighbouring channels in turn, as two halves share a 32-bit lane. */
  private float pairedDot(float[] a, int aAt, float[] b, int depth) {
    int whole = depth - depth % (2 * lanes);
    float sum = 0;
    for (int lane = 0; lane < lanes; lane++) {
      float partial = 0;
      for (int k = 2 * lane; k < whole; k += 2 * lanes) {
        partial = Math.fma(a[aAt + k], b[k], partial);
        partial = Math.fma(a[aAt + k + 1], b[k + 1], partial);
      }
      sum += partial;
    }
    for (int k = whole; k < depth; k++) {
      sum = Math.fma(a[aAt + k], b[k], sum);
    }
    return sum;
  }

  /** The sum of all tokens is made first and added as a whole. */
  @Override
  public void halfSums(
      float[] weights,
      int weightsAt,
      int weightsStride,
      int rows,
      DenseMatrix v,
      int firstRow,
      int tokens,
      float[] out,
      int outAt,
      int outStride) {
    int columns = v.columns();
    float[] scratch = rowScratch((rows + 1) * columns);
    Arrays.fill(scratch, columns, (rows + 1) * columns, 0);
    for (int t = 0; t < tokens; t++) {
      expand(v, firstRow + t, 1, scratch, 0);
      for (int i = 0; i < rows; i++) {
        float weight = weights[weightsAt + i * weightsStride + t];
        int sums = (i + 1) * columns;
        for (int d = 0; d < columns; d++) {
          scratch[sums + d] = Math.fma(weight, scratch[d], scratch[sums + d]);
        }
      }
    }
    for (int i = 0; i < rows; i++) {
      add(out, outAt + i * outStride, scratch, (i + 1) * columns, columns);
    }
  }

  /** The sum of all entries is made first and added as a whole. */
  @Override
  public void shortSums(
      float[] weights,
      int weightsAt,
      int weightsStride,
      int rows,
      MemorySegment codes,
      long offset,
      int codesStride,
      int entries,
      int lanes,
      float[] out,
      int outAt,
      int outStride) {
    float[] scratch = rowScratch((rows + 1) * lanes);
    Arrays.fill(scratch, lanes, (rows + 1) * lanes, 0);
    for (int e = 0; e < entries; e++) {
      long at = offset + 2L * e * codesStride;
      for (int lane = 0; lane < lanes; lane++) {
        scratch[lane] = codes.get(SHORT, at + 2L * lane);
      }
      for (int i = 0; i < rows; i++) {
        float weight = weights[weightsAt + i * weightsStride + e];
        int sums = (i + 1) * lanes;
        for (int lane = 0; lane < lanes; lane++) {
          scratch[sums + lane] = Math.fma(weight, scratch[lane], scratch[sums + lane]);
        }
      }
    }
    for (int i = 0; i < rows; i++) {
      add(out, outAt + i * outStride, scratch, (i + 1) * lanes, lanes);
    }
  }

  @Override
  public float maximum(float[] x, int at, int count) {
    float largest = Float.NEGATIVE_INFINITY;
    for (int i = at; i < at + count; i++) {
      largest = Math.max(largest, x[i]);
    }
    return largest;
  }

  @Override
  public float exponentiate(float[] x, int at, int count, float shift) {
    for (int i = at; i < at + count; i++) {
      x[i] = Exponential.of(x[i] - shift);
    }
    int whole = count - count % lanes;
    float sum = 0;
    for (int lane = 0; lane < lanes; lane++) {
      float partial = 0;
      for (int i = lane; i < whole; i += lanes) {
        partial += x[at + i];
      }
      sum += partial;
    }
    for (int i = whole; i < count; i++) {
      sum += x[at + i];
    }
    return sum;
  }

  @Override
  public void rmsNorm(
      float[] x, int at, float[] weight, float epsilon, float[] out, int outAt, int count) {
    float squares = dot(x, at, x, at, count);
    float inverse = (float) (1 / Math.sqrt(squares / count + epsilon));
    for (int i = 0; i < count; i++) {
      out[outAt + i] = x[at + i] * inverse * weight[i];
    }
  }

  @Override
  public void gatedSilu(float[] gate, float[] up, int at, int count) {
    for (int i = at; i < at + count; i++) {
      gate[i] = gate[i] / (Exponential.of(-gate[i]) + 1) * up[i];
    }
  }

  @Override
  public void add(float[] x, int at, float[] y, int yAt, int count) {
    for (int i = 0; i < count; i++) {
      x[at + i] += y[yAt + i];
    }
  }

  @Override
  public void multiply(float[] x, int at, float[] y, int yAt, float[] out, int outAt, int count) {
    for (int i = 0; i < count; i++) {
      out[outAt + i] = x[at + i] * y[yAt + i];
    }
  }

  @Override
  public void scale(float[] x, int at, int count, float factor) {
    for (int i = at; i < at + count; i++) {
      x[i] *= factor;
    }
  }

  @Override
  public void buildTables(
      float[] weights,
      int at,
      int stride,
      int heads,
      int entries,
      boolean exact,
      LookupTables tables) {
    ScalarLookups.build(weights, at, stride, heads, entries, exact, tables);
  }

  @Override
  public void lookup(
      PlaneLayout layout,
      MemorySegment codes,
      long offset,
      int firstTile,
      int endTile,
      LookupTables tables,
      float[] out,
      int outAt,
      int outStride) {
    ScalarLookups.lookup(layout, codes, offset, firstTile, endTile, tables, out, outAt, outStride);
  }
}
