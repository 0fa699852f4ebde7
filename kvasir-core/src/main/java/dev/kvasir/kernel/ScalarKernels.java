package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** The arithmetic in plain Java: what runs without the Vector API, and what defines the results. */
public final class ScalarKernels implements Kernels {
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  @Override
  public String name() {
    return "scalar Java";
  }

  @Override
  public void prepare(CodedRow row, float[] x, int at, int columns, int codeBits) {
    row.code(x, at, columns);
  }

  @Override
  public void codedProduct(
      CodedMatrix matrix, int firstTile, int endTile, CodedRow row, float[] out, int outAt) {
    int firstRow = firstTile * CodedMatrix.TILE_ROWS;
    int endRow = Math.min(endTile * CodedMatrix.TILE_ROWS, matrix.rows());
    for (int r = firstRow; r < endRow; r++) {
      out[outAt + r - firstRow] = codedDot(matrix, r, row);
    }
  }

  private static float codedDot(CodedMatrix matrix, int r, CodedRow row) {
    int length = matrix.groupLength();
    int sumsPerGroup = length / CodedRow.SUM_GROUP;
    float total = 0;
    for (int group = 0; group < matrix.groups(); group++) {
      int start = group * length;
      int integer = 0;
      for (int column = start; column < start + length; column++) {
        integer += matrix.code(r, column) * row.codes()[column];
      }
      float activationScale = row.scales()[start / CodedRow.GROUP];
      total += integer * (activationScale * matrix.scale(r, group));
      if (matrix.hasMinimums()) {
        float sum = 0;
        for (int i = 0; i < sumsPerGroup; i++) {
          sum += row.sums()[group * sumsPerGroup + i];
        }
        total += matrix.minimum(r, group) * sum;
      }
    }
    return total;
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
    long lane =
        matrix.codesOffset(row / CodedMatrix.TILE_ROWS) + 2L * (row % CodedMatrix.TILE_ROWS);
    int at = outAt;
    for (int group = 0; group < matrix.groups(); group++) {
      float scale = matrix.scale(row, group);
      float minimum = matrix.minimum(row, group);
      for (int i = 0; i < matrix.groupLength(); i += columnsPerLane) {
        int bits = codes.get(SHORT, lane);
        lane += 2 * CodedMatrix.TILE_ROWS;
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
        float sum = 0;
        for (int k = 0; k < depth; k++) {
          sum += a[aAt + i * aStride + k] * b[bAt + j * bStride + k];
        }
        c[cAt + i * cStride + j] = sum;
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
          out[outAt + i * outStride + d] += weight * v[vAt + t * vStride + d];
        }
      }
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
    float sum = 0;
    for (int i = at; i < at + count; i++) {
      x[i] = (float) Math.exp(x[i] - shift);
      sum += x[i];
    }
    return sum;
  }

  @Override
  public void rmsNorm(
      float[] x, int at, float[] weight, float epsilon, float[] out, int outAt, int count) {
    float squares = 0;
    for (int i = 0; i < count; i++) {
      squares += x[at + i] * x[at + i];
    }
    float inverse = (float) (1 / Math.sqrt(squares / count + epsilon));
    for (int i = 0; i < count; i++) {
      out[outAt + i] = x[at + i] * inverse * weight[i];
    }
  }

  @Override
  public void gatedSilu(float[] gate, float[] up, int at, int count) {
    for (int i = at; i < at + count; i++) {
      gate[i] = gate[i] / (1 + (float) Math.exp(-gate[i])) * up[i];
    }
  }

  @Override
  public void add(float[] x, int at, float[] y, int yAt, int count) {
    for (int i = 0; i < count; i++) {
      x[at + i] += y[yAt + i];
    }
  }

  @Override
  public void scale(float[] x, int at, int count, float factor) {
    for (int i = at; i < at + count; i++) {
      x[i] *= factor;
    }
  }
}
