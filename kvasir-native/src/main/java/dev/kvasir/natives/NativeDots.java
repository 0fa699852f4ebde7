package dev.kvasir.natives;

import dev.kvasir.kernel.CodeWeights;
import dev.kvasir.kernel.DotKernels;
import dev.kvasir.page.EntryScaledCodes;
import dev.kvasir.page.WordLayout;
import java.lang.foreign.MemorySegment;

/** Sums over packed codes. A page has 128 tokens, so that calls are short by themselves. */
final class NativeDots implements DotKernels {
  private static final Call WEIGH =
      Calls.floats(
          "weigh",
          float[].class,
          int.class,
          int.class,
          int.class,
          int.class,
          MemorySegment.class,
          long.class,
          long.class,
          float.class,
          int.class,
          int.class,
          MemorySegment.class,
          MemorySegment.class,
          MemorySegment.class,
          MemorySegment.class,
          MemorySegment.class);
  private static final Call ADD_DOTS =
      Calls.code(
          "add_dots",
          float[].class,
          int.class,
          int.class,
          MemorySegment.class,
          long.class,
          int.class,
          int.class,
          int.class,
          int.class,
          MemorySegment.class,
          int.class,
          int.class,
          MemorySegment.class,
          MemorySegment.class);

  /** For many heads; null where {@link #ADD_DOTS} serves all. */
  private static final Call MANY_DOTS =
      Calls.forCodes() != Instructions.DOTPROD
          ? null
          : Calls.code(
              "many_dots",
              float[].class,
              int.class,
              int.class,
              MemorySegment.class,
              long.class,
              int.class,
              int.class,
              int.class,
              int.class,
              MemorySegment.class,
              int.class,
              int.class,
              MemorySegment.class,
              MemorySegment.class,
              MemorySegment.class);

  private static final Call SCALED_DOTS =
      Calls.code(
          "scaled_dots",
          float[].class,
          int.class,
          int.class,
          float[].class,
          int.class,
          int.class,
          float[].class,
          int.class,
          int.class,
          int.class,
          int.class,
          int.class,
          float.class,
          int.class,
          MemorySegment.class,
          long.class);

  private static final Call SHORT_SUMS =
      Calls.floats(
          "short_sums",
          float[].class,
          int.class,
          int.class,
          float[].class,
          int.class,
          int.class,
          int.class,
          MemorySegment.class,
          long.class,
          int.class,
          int.class,
          int.class);

  /** Heads from which on a tile's codes are unpacked once for all. */
  private static final int MANY = 8;

  /** Wider codes would be taken for negative. */
  private static final int MOST_BITS_OF_MANY = 7;

  @Override
  public void weigh(
      float[] x, int at, int stride, int heads, int entries, boolean exact, CodeWeights weights) {
    weights.begin(heads, entries, exact);
    Bounds.check(x.length, at, heads, stride, entries);
    round(x, at, stride, weights.views().digits(), 0, 0, 1, false, weights);
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
    Bounds.check(x.length, at, heads, stride, entries);
    Bounds.check(bytes.byteSize(), scalesAt, 2L * entries);
    Bounds.check(bytes.byteSize(), zerosAt, 2L * entries);
    round(x, at, stride, bytes, scalesAt, zerosAt, unit, true, weights);
  }

  private static void round(
      float[] x,
      int at,
      int stride,
      MemorySegment bytes,
      long scalesAt,
      long zerosAt,
      float unit,
      boolean scaled,
      CodeWeights weights) {
    CodeWeights.Views views = weights.views();
    try {
      WEIGH.handle.invokeExact(
          x,
          at,
          stride,
          weights.heads(),
          weights.entries(),
          bytes,
          scalesAt,
          zerosAt,
          unit,
          scaled ? 1 : 0,
          weights.exact() ? 1 : 0,
          views.scales(),
          views.products(),
          views.digits(),
          views.surveys(),
          views.totals());
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
    float[] surveys = weights.surveys(); // (heads, largest weight, sum of weights, offset)
    for (int head = 0; head < weights.heads(); head++) {
      int survey = CodeWeights.SURVEYS * head;
      weights.scale(head, surveys[survey]);
      weights.complete(head, surveys[survey + 1], weights.totals()[head]);
      weights.offset(head, surveys[survey + 2]);
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
    weights.requireEntries(layout.entries());
    if (firstTile >= endTile) {
      return;
    }
    Bounds.check(layout.tiles(), endTile);
    Bounds.check(codes.byteSize(), offset, layout.bytes());
    int lanes = (endTile - firstTile) * WordLayout.TILE;
    Bounds.check(out.length, outAt, weights.heads(), outStride, lanes);
    CodeWeights.Views views = weights.views();
    weights.fillConstants(layout.bits());
    if (takesMany(layout, weights.heads())) {
      addManyDots(layout, codes, offset, firstTile, endTile, weights, out, outAt, outStride);
      return;
    }
    try {
      ADD_DOTS.handle.invokeExact(
          out,
          outAt,
          outStride,
          codes,
          offset,
          layout.quads(),
          layout.bits(),
          firstTile,
          endTile,
          views.digits(),
          weights.heads(),
          weights.exact() ? 1 : 0,
          views.units(),
          views.constants());
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }

  @Override
  public void addScaledDots(
      float[] x,
      int at,
      int stride,
      int heads,
      boolean exact,
      EntryScaledCodes codes,
      MemorySegment bytes,
      long offset,
      CodeWeights room,
      float[] out,
      int outAt,
      int outStride) {
    if (takesMany(codes.layout(), heads)) {
      DotKernels.super.addScaledDots(
          x, at, stride, heads, exact, codes, bytes, offset, room, out, outAt, outStride);
      return;
    }
    room.begin(heads, codes.entries(), exact);
    Bounds.checkMultiple("lanes", codes.lanes(), WordLayout.TILE);
    Bounds.check(x.length, at, heads, stride, codes.entries());
    Bounds.check(bytes.byteSize(), offset, codes.bytes());
    Bounds.check(out.length, outAt, heads, outStride, codes.lanes());
    try {
      SCALED_DOTS.handle.invokeExact(
          out,
          outAt,
          outStride,
          x,
          at,
          stride,
          room.callRoom(),
          heads,
          codes.entries(),
          codes.bits(),
          codes.lanes(),
          codes.group(),
          codes.unit(),
          exact ? 1 : 0,
          bytes,
          offset);
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }

  private static boolean takesMany(WordLayout layout, int heads) {
    return MANY_DOTS != null
        && heads >= MANY
        && layout.bits() <= MOST_BITS_OF_MANY
        && layout.entries() * WordLayout.TILE <= CallRoom.BYTES;
  }

  private static void addManyDots(
      WordLayout layout,
      MemorySegment codes,
      long offset,
      int firstTile,
      int endTile,
      CodeWeights weights,
      float[] out,
      int outAt,
      int outStride) {
    CodeWeights.Views views = weights.views();
    try {
      MANY_DOTS.handle.invokeExact(
          out,
          outAt,
          outStride,
          codes,
          offset,
          layout.quads(),
          layout.bits(),
          firstTile,
          endTile,
          views.digits(),
          weights.heads(),
          weights.exact() ? 1 : 0,
          views.units(),
          views.constants(),
          CallRoom.ofThisThread());
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
      SHORT_SUMS.handle.invokeExact(
          weights,
          weightsAt,
          weightsStride,
          out,
          outAt,
          outStride,
          rows,
          codes,
          offset,
          codesStride,
          entries,
          lanes);
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }
}
