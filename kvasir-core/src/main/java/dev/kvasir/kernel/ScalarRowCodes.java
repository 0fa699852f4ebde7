package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Reference kernels for rows of codes in plain Java, which define results to the last bit. */
final class ScalarRowCodes implements RowCodeKernels {
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  @Override
  public void decode(RowCodeBlock codes, float[] out) {
    CodeBands bands = codes.bands();
    int row = 0;
    long at = codes.offset();
    for (int band = 0; band < bands.bands(); band++) {
      RowCodeLayout layout = bands.layout(band);
      for (int end = row + bands.counts()[band]; row < end; row++) {
        int to = codes.tokens()[row] * layout.width();
        codes.base().dequantize(codes.tableRows()[row], codes.lows(), out, to);
        add(codes.source(), at, layout, out, to);
        at += layout.rowBytes();
      }
    }
  }

  private static void add(
      MemorySegment source, long row, RowCodeLayout layout, float[] out, int at) {
    float scale =
        RowCodeLayout.scale(source.get(ValueLayout.JAVA_BYTE, row) & RowCodeLayout.SCALES - 1);
    for (int i = 0; i < layout.width(); i++) {
      int offset = layout.offset(i);
      int word = Short.toUnsignedInt(source.get(SHORT, row + (offset >> 3)));
      int code = word >> (offset & 7) & (1 << layout.bits(i)) - 1;
      float steps = Math.fma(code, layout.step(i), layout.minimum(i));
      out[at + i] = Math.fma(steps, scale, out[at + i]);
    }
  }

  @Override
  public void products(
      RowCodeBlock codes,
      float[] cosines,
      float[] sines,
      float[] a,
      int aRows,
      float[] scratch,
      float[] c) {
    int width = codes.width();
    int rows = codes.rows();
    decode(codes, scratch);
    rotateEach(scratch, rows, width / 2, cosines, sines);
    for (int i = 0; i < aRows; i++) {
      for (int token = 0; token < rows; token++) {
        c[i * rows + token] = PartialSums.dot(a, i * width, scratch, token * width, width);
      }
    }
  }

  @Override
  public void weightedSums(RowCodeBlock codes, float[] w, int wRows, float[] scratch, float[] out) {
    InterleavedSums.add(codes, w, wRows, scratch, out);
  }

  @Override
  public void orderRows(
      MemorySegment classes,
      long at,
      MemorySegment ids,
      int[] rowOfId,
      byte[] tokens,
      int[] tableRows) {
    long first = classes.get(LONG, at);
    long second = classes.get(LONG, at + Long.BYTES);
    long left = classes.get(LONG, at + 2 * Long.BYTES);
    int row = 0;
    int middleRow = CodeBands.MAX_ROWS - Long.bitCount(first) - Long.bitCount(second);
    int lastRow = CodeBands.MAX_ROWS - Long.bitCount(left);
    for (int token = 0; token < CodeBands.MAX_ROWS; token++) {
      long bits = token < Long.SIZE ? first : second;
      int to;
      if ((bits >>> token & 1) == 0) {
        to = row++;
      } else {
        to = (left & 1) == 0 ? middleRow++ : lastRow++;
        left >>>= 1;
      }
      tokens[to] = (byte) token;
      tableRows[to] = tableRow(ids, token, rowOfId);
    }
  }

  private static int tableRow(MemorySegment ids, int token, int[] rowOfId) {
    if (rowOfId.length == 0) {
      return 0;
    }
    int id = ids.get(INT, (long) Integer.BYTES * token);
    return rowOfId[Integer.compareUnsigned(id, rowOfId.length) < 0 ? id : 0];
  }

  @Override
  public void gather(
      MemorySegment source,
      long offset,
      int stride,
      int[] rowIndices,
      int count,
      int width,
      float[] out) {
    for (int token = 0; token < count; token++) {
      long first = offset + (long) Short.BYTES * stride * rowIndices[token];
      for (int i = 0; i < width; i++) {
        out[token * width + i] =
            Float.float16ToFloat(source.get(SHORT, first + (long) Short.BYTES * i));
      }
    }
  }

  @Override
  public void rotateEach(float[] rows, int count, int pairs, float[] cosines, float[] sines) {
    for (int row = 0; row < count; row++) {
      int at = row * 2 * pairs;
      int angle = row * pairs;
      for (int i = 0; i < pairs; i++) {
        float x = rows[at + i];
        float y = rows[at + pairs + i];
        rows[at + i] = Math.fma(-y, sines[angle + i], x * cosines[angle + i]);
        rows[at + pairs + i] = Math.fma(x, sines[angle + i], y * cosines[angle + i]);
      }
    }
  }
}
