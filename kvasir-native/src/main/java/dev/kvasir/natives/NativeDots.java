package dev.kvasir.natives;

import dev.kvasir.kernel.CodeWeights;
import dev.kvasir.kernel.DotKernels;
import dev.kvasir.kernel.RowBlock;
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
  public void weigh(RowBlock x, boolean exact, CodeWeights weights) {
    weights.begin(x.rows(), x.width(), exact);
    Bounds.check(x);
    round(x, weights.views().digits(), 0, 0, 1, false, weights);
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
    Bounds.check(x);
    Bounds.check(bytes.byteSize(), scalesAt, 2L * x.width());
    Bounds.check(bytes.byteSize(), zerosAt, 2L * x.width());
    round(x, bytes, scalesAt, zerosAt, unit, true, weights);
  }

  private static void round(
      RowBlock x,
      MemorySegment bytes,
      long scalesAt,
      long zerosAt,
      float unit,
      boolean scaled,
      CodeWeights weights) {
    CodeWeights.Views views = weights.views();
    try {
      WEIGH.handle.invokeExact(
          x.values(),
          x.at(),
          x.stride(),
          x.rows(),
          x.width(),
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
      RowBlock out) {
    weights.requireFit(layout, endTile - firstTile, out);
    if (firstTile >= endTile) {
      return;
    }
    Bounds.check(layout.tiles(), endTile);
    Bounds.check(codes.byteSize(), offset, layout.bytes());
    Bounds.check(out);
    weights.fillConstants(layout.bits());
    if (takesMany(layout, weights.heads())) {
      addManyDots(layout, codes, offset, firstTile, endTile, weights, out);
    } else {
      addFewDots(layout, codes, offset, firstTile, endTile, weights, out);
    }
  }

  private static void addFewDots(
      WordLayout layout,
      MemorySegment codes,
      long offset,
      int firstTile,
      int endTile,
      CodeWeights weights,
      RowBlock out) {
    CodeWeights.Views views = weights.views();
    try {
      ADD_DOTS.handle.invokeExact(
          out.values(),
          out.at(),
          out.stride(),
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

  private static void addManyDots(
      WordLayout layout,
      MemorySegment codes,
      long offset,
      int firstTile,
      int endTile,
      CodeWeights weights,
      RowBlock out) {
    CodeWeights.Views views = weights.views();
    try {
      MANY_DOTS.handle.invokeExact(
          out.values(),
          out.at(),
          out.stride(),
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

  private static boolean takesMany(WordLayout layout, int heads) {
    return MANY_DOTS != null
        && heads >= MANY
        && layout.bits() <= MOST_BITS_OF_MANY
        && layout.entries() * WordLayout.TILE <= CallRoom.BYTES;
  }

  @Override
  public void addScaledDots(
      RowBlock x,
      boolean exact,
      EntryScaledCodes codes,
      MemorySegment bytes,
      long offset,
      CodeWeights room,
      RowBlock out) {
    if (takesMany(codes.layout(), x.rows())) {
      DotKernels.super.addScaledDots(x, exact, codes, bytes, offset, room, out);
      return;
    }
    x.requireShape(x.rows(), codes.entries());
    out.requireShape(x.rows(), codes.lanes());
    room.begin(x.rows(), x.width(), exact);
    Bounds.checkMultiple("lanes", codes.lanes(), WordLayout.TILE);
    Bounds.check(x);
    Bounds.check(bytes.byteSize(), offset, codes.bytes());
    Bounds.check(out);
    try {
      SCALED_DOTS.handle.invokeExact(
          out.values(),
          out.at(),
          out.stride(),
          x.values(),
          x.at(),
          x.stride(),
          room.callRoom(),
          x.rows(),
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

  @Override
  public void shortSums(
      RowBlock weights, MemorySegment codes, long offset, int codesStride, RowBlock out) {
    out.requireShape(weights.rows(), out.width());
    int entries = weights.width();
    long last = (long) (entries - 1) * codesStride + out.width();
    Bounds.check(codes.byteSize(), offset, entries == 0 ? 0 : 2 * last);
    Bounds.check(weights);
    Bounds.check(out);
    try {
      SHORT_SUMS.handle.invokeExact(
          weights.values(),
          weights.at(),
          weights.stride(),
          out.values(),
          out.at(),
          out.stride(),
          weights.rows(),
          codes,
          offset,
          codesStride,
          entries,
          out.width());
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }
}
