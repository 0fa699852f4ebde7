package dev.kvasir.kernel;

import dev.kvasir.page.WordLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Sums over packed codes in plain Java: the definition, to the last bit. */
final class ScalarDots implements DotKernels {
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final int ROUNDER_BITS = Float.floatToRawIntBits(CodeWeights.ROUNDER);

  @Override
  public void weigh(RowBlock x, boolean exact, CodeWeights weights) {
    weights.begin(x.rows(), x.width(), exact);
    int entries = x.width();
    int padded = CodeWeights.padded(entries);
    float[] products = weights.products();
    for (int head = 0; head < x.rows(); head++) {
      int to = head * padded;
      System.arraycopy(x.values(), x.at(head), products, to, entries);
      Arrays.fill(products, to + entries, to + padded, 0);
      round(head, to, padded, weights);
    }
  }

  @Override
  public void weighScaled(
      RowBlock x,
      MemorySegment bytes,
      long scalesAt,
      long zerosAt,
      float unit,
      boolean exact,
      CodeWeights weights) {
    weights.begin(x.rows(), x.width(), exact);
    int entries = x.width();
    int padded = CodeWeights.padded(entries);
    int own = 2 * padded;
    float[] scales = weights.scales();
    Arrays.fill(scales, 0, 3 * padded, 0);
    for (int e = 0; e < entries; e++) {
      scales[e] = Float.float16ToFloat(bytes.get(SHORT, scalesAt + 2L * e)) * unit;
      scales[padded + e] = Float.float16ToFloat(bytes.get(SHORT, zerosAt + 2L * e));
    }
    float[] products = weights.products();
    for (int head = 0; head < x.rows(); head++) {
      System.arraycopy(x.values(), x.at(head), scales, own, entries);
      int to = head * padded;
      for (int e = 0; e < padded; e++) {
        products[to + e] = scales[own + e] * scales[e];
      }
      weights.offset(head, PartialSums.dot(scales, own, scales, padded, padded));
      round(head, to, padded, weights);
    }
  }

  /** Digits of the products from {@code at} on. */
  private static void round(int head, int at, int padded, CodeWeights weights) {
    float[] products = weights.products();
    float largest = 0;
    for (int i = at; i < at + padded; i++) {
      largest = Math.max(largest, Math.abs(products[i]));
    }
    float scale = weights.scale(head, largest);
    int total = 0;
    for (int e = 0; e < 4 * weights.quads(); e++) {
      float units = products[at + e] * scale + CodeWeights.ROUNDER;
      int rounded = Float.floatToRawIntBits(units) - ROUNDER_BITS;
      total += rounded;
      put(head, e, rounded, weights);
    }
    weights.complete(head, PartialSums.sum(products, at, padded), total);
  }

  private static void put(int head, int entry, int rounded, CodeWeights weights) {
    int at = weights.digitsAt(head, entry / 4) + entry % 4;
    if (weights.exact()) {
      int high = rounded + (1 << CodeWeights.LOW_BITS - 1) >> CodeWeights.LOW_BITS;
      weights.digits()[at] = (byte) high;
      int low = weights.digitsAt(weights.heads() + head, entry / 4) + entry % 4;
      weights.digits()[low] = (byte) (rounded - (high << CodeWeights.LOW_BITS));
    } else {
      weights.digits()[at] = (byte) rounded;
    }
  }

  /** A tile's codes are taken out first: segments are slow until compiled. */
  @Override
  public void addDots(
      WordLayout layout,
      MemorySegment codes,
      long offset,
      int firstTile,
      int endTile,
      CodeWeights weights,
      RowBlock out) {
    weights.requireFit(layout, endTile - firstTile, out);
    CodeWeights.TileSums tileSums = weights.tileSums();
    tileSums.require(layout);
    int bytes = layout.tileBytes();
    for (int tile = firstTile; tile < endTile; tile++) {
      long from = offset + (long) tile * bytes;
      MemorySegment.copy(codes, ValueLayout.JAVA_BYTE, from, tileSums.packed, 0, bytes);
      layout.unpackTile(tileSums.packed, 0, tileSums.codes, 0, WordLayout.TILE);
      for (int head = 0; head < weights.heads(); head++) {
        int to = out.at(head) + (tile - firstTile) * WordLayout.TILE;
        addTile(head, weights, layout.bits(), tileSums, out.values(), to);
      }
    }
  }

  private static void addTile(
      int head,
      CodeWeights weights,
      int bits,
      CodeWeights.TileSums tileSums,
      float[] out,
      int outAt) {
    float unit = weights.unit(head);
    float constant = weights.constant(head, bits);
    sumCodes(head, weights, tileSums.codes, tileSums.high);
    if (weights.exact()) {
      sumCodes(weights.heads() + head, weights, tileSums.codes, tileSums.low);
    }
    for (int lane = 0; lane < WordLayout.TILE; lane++) {
      float sum = tileSums.high[lane];
      if (weights.exact()) {
        sum = Math.fma(1 << CodeWeights.LOW_BITS, sum, tileSums.low[lane]);
      }
      out[outAt + lane] += Math.fma(sum, unit, constant);
    }
  }

  private static void sumCodes(int row, CodeWeights weights, byte[] codes, int[] sums) {
    Arrays.fill(sums, 0);
    for (int e = 0; e < 4 * weights.quads(); e++) {
      int digit = weights.digits()[weights.digitsAt(row, e / 4) + e % 4];
      for (int lane = 0; lane < WordLayout.TILE; lane++) {
        sums[lane] += digit * (codes[e * WordLayout.TILE + lane] & 0xFF);
      }
    }
  }

  /** The sum of all entries is made first and added as a whole. */
  @Override
  public void shortSums(
      RowBlock weights, MemorySegment codes, long offset, int codesStride, RowBlock out) {
    int rows = weights.rows();
    int lanes = out.width();
    out.requireShape(rows, lanes);
    float[] scratch = RowScratch.of((rows + 1) * lanes);
    Arrays.fill(scratch, lanes, (rows + 1) * lanes, 0);
    for (int e = 0; e < weights.width(); e++) {
      long at = offset + 2L * e * codesStride;
      for (int lane = 0; lane < lanes; lane++) {
        scratch[lane] = codes.get(SHORT, at + 2L * lane);
      }
      for (int i = 0; i < rows; i++) {
        float weight = weights.values()[weights.at(i) + e];
        int sums = (i + 1) * lanes;
        for (int lane = 0; lane < lanes; lane++) {
          scratch[sums + lane] = Math.fma(weight, scratch[lane], scratch[sums + lane]);
        }
      }
    }
    for (int i = 0; i < rows; i++) {
      RowScratch.add(scratch, (i + 1) * lanes, out.values(), out.at(i), lanes);
    }
  }
}
