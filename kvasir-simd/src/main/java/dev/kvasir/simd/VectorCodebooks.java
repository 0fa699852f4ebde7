package dev.kvasir.simd;

import dev.kvasir.kernel.CodebookKernels;
import dev.kvasir.kernel.FixedRows;
import java.lang.foreign.MemorySegment;

/** Sums of picked rows on the Vector API. */
final class VectorCodebooks implements CodebookKernels {
  @Override
  public void unpackStages(MemorySegment source, long offset, int stages, byte[] indices) {
    CodeSums.unpackStages(source, offset, stages, indices);
  }

  @Override
  public void turnedSums(
      FixedRows rows,
      byte[] indices,
      int from,
      int end,
      float[] scales,
      float[] cosines,
      float[] sines,
      short[] room,
      float[] out) {
    CodeSums.rowSums(rows, indices, from, end, room);
    CodeSums.turnedSums(room, from, end, rows, scales, cosines, sines, out);
  }

  @Override
  public void pickedSums(
      float[] rows, int at, byte[] indices, int sets, int tokens, int width, float[] sums) {
    CodeSums.pickedSums(rows, at, indices, sets, tokens, width, sums);
  }

  @Override
  public void rowProducts(float[] a, float[] b, int count, int width, float[] out) {
    CodeSums.rowProducts(a, b, count, width, out);
  }

  @Override
  public void collect(
      byte[] indices, int sets, int tokens, float[] weights, int lanes, float[] bins) {
    CodeSums.collect(indices, sets, tokens, weights, lanes, bins);
  }

  @Override
  public void leastDistances(
      float[] squares, int at, float[] products, int productsAt, float[] out) {
    CodeSums.leastDistances(squares, at, products, productsAt, out);
  }
}
