package dev.kvasir.kernel;

import dev.kvasir.page.WordLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Reference dot products of packed codes in plain Java, which define results to the last bit. */
final class ScalarDots implements DotKernels {
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final int ROUNDER_BITS = Float.floatToRawIntBits(QuantizedOperand.ROUNDER);

  @Override
  public void quantizeOperand(RowBlock x, boolean exact, QuantizedOperand operand) {
    operand.begin(x.rows(), x.width(), exact);
    int depth = x.width();
    int paddedDepth = QuantizedOperand.paddedDepth(depth);
    float[] products = operand.products();
    for (int head = 0; head < x.rows(); head++) {
      int to = head * paddedDepth;
      System.arraycopy(x.values(), x.at(head), products, to, depth);
      Arrays.fill(products, to + depth, to + paddedDepth, 0);
      round(head, to, paddedDepth, operand);
    }
  }

  @Override
  public void quantizeScaledOperand(
      RowBlock x,
      MemorySegment bytes,
      long scalesAt,
      long zerosAt,
      float unit,
      boolean exact,
      QuantizedOperand operand) {
    operand.begin(x.rows(), x.width(), exact);
    int depth = x.width();
    int paddedDepth = QuantizedOperand.paddedDepth(depth);
    int own = 2 * paddedDepth;
    float[] scales = operand.scales();
    Arrays.fill(scales, 0, 3 * paddedDepth, 0);
    for (int e = 0; e < depth; e++) {
      scales[e] = Float.float16ToFloat(bytes.get(SHORT, scalesAt + 2L * e)) * unit;
      scales[paddedDepth + e] = Float.float16ToFloat(bytes.get(SHORT, zerosAt + 2L * e));
    }
    float[] products = operand.products();
    for (int head = 0; head < x.rows(); head++) {
      System.arraycopy(x.values(), x.at(head), scales, own, depth);
      int to = head * paddedDepth;
      for (int e = 0; e < paddedDepth; e++) {
        products[to + e] = scales[own + e] * scales[e];
      }
      operand.setOffset(head, PartialSums.dot(scales, own, scales, paddedDepth, paddedDepth));
      round(head, to, paddedDepth, operand);
    }
  }

  /** Rounds the products from {@code at} on to the bytes of a head. */
  private static void round(int head, int at, int paddedDepth, QuantizedOperand operand) {
    float[] products = operand.products();
    float largest = 0;
    for (int i = at; i < at + paddedDepth; i++) {
      largest = Math.max(largest, Math.abs(products[i]));
    }
    float scale = operand.chooseUnit(head, largest);
    int total = 0;
    for (int e = 0; e < 4 * operand.quads(); e++) {
      float units = products[at + e] * scale + QuantizedOperand.ROUNDER;
      int rounded = Float.floatToRawIntBits(units) - ROUNDER_BITS;
      total += rounded;
      put(head, e, rounded, operand);
    }
    operand.setRoundingError(head, PartialSums.sum(products, at, paddedDepth), total);
  }

  private static void put(int head, int row, int rounded, QuantizedOperand operand) {
    int at = operand.byteOffset(head, row / 4) + row % 4;
    if (operand.exact()) {
      int high = rounded + (1 << QuantizedOperand.LOW_BITS - 1) >> QuantizedOperand.LOW_BITS;
      operand.bytes()[at] = (byte) high;
      int low = operand.byteOffset(operand.heads() + head, row / 4) + row % 4;
      operand.bytes()[low] = (byte) (rounded - (high << QuantizedOperand.LOW_BITS));
    } else {
      operand.bytes()[at] = (byte) rounded;
    }
  }

  /** Unpacks a tile's codes first, because access to segments is slow until compiled. */
  @Override
  public void addDots(
      WordLayout layout,
      MemorySegment codes,
      long offset,
      int firstTile,
      int endTile,
      QuantizedOperand operand,
      RowBlock out) {
    operand.requireFit(layout, endTile - firstTile, out);
    QuantizedOperand.TileSums tileSums = operand.tileSums();
    tileSums.ensureCapacity(layout);
    int bytes = layout.tileBytes();
    for (int tile = firstTile; tile < endTile; tile++) {
      long from = offset + (long) tile * bytes;
      MemorySegment.copy(codes, ValueLayout.JAVA_BYTE, from, tileSums.packed, 0, bytes);
      layout.unpackTile(tileSums.packed, 0, tileSums.codes, 0, WordLayout.TILE);
      for (int head = 0; head < operand.heads(); head++) {
        int to = out.at(head) + (tile - firstTile) * WordLayout.TILE;
        addTile(head, operand, layout.bits(), tileSums, out.values(), to);
      }
    }
  }

  private static void addTile(
      int head,
      QuantizedOperand operand,
      int bits,
      QuantizedOperand.TileSums tileSums,
      float[] out,
      int outAt) {
    float unit = operand.unit(head);
    float constant = operand.constant(head, bits);
    sumCodes(head, operand, tileSums.codes, tileSums.high);
    if (operand.exact()) {
      sumCodes(operand.heads() + head, operand, tileSums.codes, tileSums.low);
    }
    for (int column = 0; column < WordLayout.TILE; column++) {
      float sum = tileSums.high[column];
      if (operand.exact()) {
        sum = Math.fma(1 << QuantizedOperand.LOW_BITS, sum, tileSums.low[column]);
      }
      out[outAt + column] += Math.fma(sum, unit, constant);
    }
  }

  private static void sumCodes(int row, QuantizedOperand operand, byte[] codes, int[] sums) {
    Arrays.fill(sums, 0);
    for (int e = 0; e < 4 * operand.quads(); e++) {
      int digit = operand.bytes()[operand.byteOffset(row, e / 4) + e % 4];
      for (int column = 0; column < WordLayout.TILE; column++) {
        sums[column] += digit * (codes[e * WordLayout.TILE + column] & 0xFF);
      }
    }
  }

  /** Computes the sum over all rows first, then adds it. */
  @Override
  public void shortSums(
      RowBlock weights, MemorySegment codes, long offset, int codesStride, RowBlock out) {
    int rows = weights.rows();
    int columns = out.width();
    out.requireShape(rows, columns);
    float[] scratch = RowScratch.of((rows + 1) * columns);
    Arrays.fill(scratch, columns, (rows + 1) * columns, 0);
    for (int e = 0; e < weights.width(); e++) {
      long at = offset + 2L * e * codesStride;
      for (int column = 0; column < columns; column++) {
        scratch[column] = codes.get(SHORT, at + 2L * column);
      }
      for (int i = 0; i < rows; i++) {
        float weight = weights.values()[weights.at(i) + e];
        int sums = (i + 1) * columns;
        for (int column = 0; column < columns; column++) {
          scratch[sums + column] = Math.fma(weight, scratch[column], scratch[sums + column]);
        }
      }
    }
    for (int i = 0; i < rows; i++) {
      RowScratch.add(scratch, (i + 1) * columns, out.values(), out.at(i), columns);
    }
  }
}
