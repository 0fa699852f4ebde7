package dev.kvasir.simd;

import dev.kvasir.kernel.CodeWeights;
import dev.kvasir.kernel.DotKernels;
import dev.kvasir.kernel.HalfKernels;
import dev.kvasir.kernel.RowKernels;
import dev.kvasir.page.WordLayout;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** Sums over packed codes on the Vector API. */
final class VectorDots implements DotKernels {
  private final HalfKernels halves;
  private final RowKernels rows;

  VectorDots(HalfKernels halves, RowKernels rows) {
    this.halves = halves;
    this.rows = rows;
  }

  @Override
  public void weigh(
      float[] x, int at, int stride, int heads, int entries, boolean exact, CodeWeights weights) {
    weights.begin(heads, entries, exact);
    int padded = CodeWeights.padded(entries);
    for (int head = 0; head < heads; head++) {
      int to = head * padded;
      System.arraycopy(x, at + head * stride, weights.products(), to, entries);
      Arrays.fill(weights.products(), to + entries, to + padded, 0);
      WordWeights.round(head, weights);
    }
  }

  @Override
  public void weighScaled(
      float[] x,
      int at,
      int stride,
      int heads,
      int entries,
      MemorySegment bytes,
      long scalesAt,
      long zerosAt,
      float unit,
      boolean exact,
      CodeWeights weights) {
    weights.begin(heads, entries, exact);
    int padded = CodeWeights.padded(entries);
    int own = 2 * padded;
    float[] scales = weights.scales();
    Arrays.fill(scales, 0, 3 * padded, 0);
    halves.expand(bytes, scalesAt, scales, 0, entries);
    if (unit != 1) {
      rows.scale(scales, 0, entries, unit);
    }
    halves.expand(bytes, zerosAt, scales, padded, entries);
    for (int head = 0; head < heads; head++) {
      System.arraycopy(x, at + head * stride, scales, own, entries);
      rows.multiply(scales, own, scales, 0, weights.products(), head * padded, padded);
      weights.offset(head, WordWeights.dot(scales, own, padded, padded));
      WordWeights.round(head, weights);
    }
  }

  @Override
  public void addDots(
      WordLayout layout,
      MemorySegment codes,
      long offset,
      int firstTile,
      int endTile,
      CodeWeights weights,
      float[] out,
      int outAt,
      int outStride) {
    WordDots.add(layout, codes, offset, firstTile, endTile, weights, out, outAt, outStride);
  }

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
    ShortSums.add(
        weights,
        weightsAt,
        weightsStride,
        rows,
        codes,
        offset,
        codesStride,
        entries,
        lanes,
        out,
        outAt,
        outStride);
  }
}
