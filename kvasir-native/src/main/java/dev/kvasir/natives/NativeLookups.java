package dev.kvasir.natives;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.kernel.LookupKernels;
import dev.kvasir.kernel.LookupTables;
import dev.kvasir.page.PlaneLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** Sums over packed codes. A page has 128 tokens, so that calls are short by themselves. */
final class NativeLookups implements LookupKernels {
  private static final MethodHandle BUILD_TABLES =
      Calls.floats(
          "build_tables",
          ADDRESS,
          JAVA_INT,
          JAVA_INT,
          JAVA_INT,
          JAVA_INT,
          JAVA_INT,
          ADDRESS,
          JAVA_INT,
          JAVA_INT,
          ADDRESS,
          ADDRESS);
  private static final MethodHandle LOOK_UP =
      Calls.floats(
          "look_up", ADDRESS, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS,
          JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_INT, JAVA_INT);
  private static final MethodHandle SHORT_SUMS =
      Calls.floats(
          "short_sums",
          ADDRESS,
          JAVA_INT,
          JAVA_INT,
          JAVA_INT,
          ADDRESS,
          JAVA_LONG,
          JAVA_INT,
          JAVA_INT,
          JAVA_INT,
          ADDRESS,
          JAVA_INT,
          JAVA_INT);

  @Override
  public void buildTables(
      float[] weights,
      int at,
      int stride,
      int heads,
      int entries,
      boolean exact,
      LookupTables tables) {
    tables.begin(heads, entries, exact);
    Bounds.check(weights.length, at, heads, stride, entries);
    LookupTables.Views views = tables.views();
    float[] surveys = tables.surveys(); // (heads, largest sum of magnitudes and sum of weights)
    int[] totals = tables.fixedPoint(); // (heads, first digits and second digits)
    try {
      BUILD_TABLES.invokeExact(
          MemorySegment.ofArray(weights),
          at,
          stride,
          heads,
          tables.quads(),
          exact ? 1 : 0,
          views.bytes(),
          tables.pairAt(1, 0),
          tables.singleAt(0, 0),
          views.surveys(),
          views.fixedPoint());
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
    for (int head = 0; head < heads; head++) {
      tables.scale(head, surveys[2 * head]);
      tables.complete(head, surveys[2 * head + 1], totals[2 * head], totals[2 * head + 1]);
    }
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
    tables.requireEntries(layout.entries());
    if (firstTile >= endTile) {
      return;
    }
    int lanes = Math.min(endTile * PlaneLayout.TILE, layout.lanes()) - firstTile * PlaneLayout.TILE;
    Bounds.check(layout.tiles(), endTile);
    Bounds.check(codes.byteSize(), offset, layout.bytes());
    Bounds.check(out.length, outAt, tables.heads(), outStride, lanes);
    LookupTables.Views views = tables.views();
    tables.fillConstants(layout.bits());
    try {
      LOOK_UP.invokeExact(
          codes,
          offset,
          layout.lanes(),
          layout.quads(),
          layout.bits(),
          firstTile,
          endTile,
          views.bytes(),
          tables.pairAt(1, 0),
          tables.singleAt(0, 0),
          tables.heads(),
          tables.exact() ? 1 : 0,
          views.units(),
          views.constants(),
          MemorySegment.ofArray(out),
          outAt,
          outStride);
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
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
    long last = (long) (entries - 1) * codesStride + lanes;
    Bounds.check(codes.byteSize(), offset, entries == 0 ? 0 : 2 * last);
    Bounds.check(weights.length, weightsAt, rows, weightsStride, entries);
    Bounds.check(out.length, outAt, rows, outStride, lanes);
    try {
      SHORT_SUMS.invokeExact(
          MemorySegment.ofArray(weights),
          weightsAt,
          weightsStride,
          rows,
          codes,
          offset,
          codesStride,
          entries,
          lanes,
          MemorySegment.ofArray(out),
          outAt,
          outStride);
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }
}
