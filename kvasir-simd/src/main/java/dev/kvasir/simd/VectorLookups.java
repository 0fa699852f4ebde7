package dev.kvasir.simd;

import dev.kvasir.kernel.LookupKernels;
import dev.kvasir.kernel.LookupTables;
import dev.kvasir.page.PlaneLayout;
import java.lang.foreign.MemorySegment;

/** Sums over packed codes on the Vector API. */
final class VectorLookups implements LookupKernels {
  @Override
  public void buildTables(
      float[] weights,
      int at,
      int stride,
      int heads,
      int entries,
      boolean exact,
      LookupTables tables) {
    PlaneTables.build(weights, at, stride, heads, entries, exact, tables);
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
    PlaneLookups.lookup(layout, codes, offset, firstTile, endTile, tables, out, outAt, outStride);
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
