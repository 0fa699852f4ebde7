package dev.kvasir.natives;

import dev.kvasir.kernel.DotKernels;
import dev.kvasir.kernel.QuantizedOperand;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.page.RowScaledCodes;
import dev.kvasir.page.WordLayout;
import java.lang.foreign.MemorySegment;

/** Native dot products of packed codes. A page has only 128 tokens, so calls are short. */
final class NativeDots implements DotKernels {
  private static final NativeFunction QUANTIZE_OPERAND =
      NativeFunctions.floatFunction("weigh", "[FIIII MJJFII MMMMM");
  private static final NativeFunction ADD_DOTS =
      NativeFunctions.integerFunction("add_dots", "[FII MJIIII MII MM");

  /** For many heads; null if {@link #ADD_DOTS} handles all. */
  private static final NativeFunction MANY_DOTS =
      NativeFunctions.integerInstructions() != InstructionSet.DOTPROD
          ? null
          : NativeFunctions.integerFunction("many_dots", "[FII MJIIII MII MMM");

  private static final NativeFunction SCALED_DOTS =
      NativeFunctions.integerFunction("scaled_dots", "[FII [FII [FIIIIIFI MJ");

  private static final NativeFunction SHORT_SUMS =
      NativeFunctions.floatFunction("short_sums", "[FII [FIII MJIII");

  /** The number of heads from which a tile's codes are unpacked once for all heads. */
  private static final int MANY = 8;

  /** Wider codes would be interpreted as negative. */
  private static final int MAX_BITS_OF_MANY = 7;

  @Override
  public void quantizeOperand(RowBlock x, boolean exact, QuantizedOperand operand) {
    operand.begin(x.rows(), x.width(), exact);
    Bounds.check(x);
    round(x, operand.views().bytes(), 0, 0, 1, false, operand);
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
    Bounds.check(x);
    Bounds.check(bytes.byteSize(), scalesAt, 2L * x.width());
    Bounds.check(bytes.byteSize(), zerosAt, 2L * x.width());
    round(x, bytes, scalesAt, zerosAt, unit, true, operand);
  }

  private static void round(
      RowBlock x,
      MemorySegment bytes,
      long scalesAt,
      long zerosAt,
      float unit,
      boolean scaled,
      QuantizedOperand operand) {
    QuantizedOperand.Views views = operand.views();
    try {
      QUANTIZE_OPERAND.handle.invokeExact(
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
          operand.exact() ? 1 : 0,
          views.scales(),
          views.products(),
          views.bytes(),
          views.stats(),
          views.totals());
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
    float[] stats = operand.stats(); // (heads, largest weight, sum of weights, offset)
    for (int head = 0; head < operand.heads(); head++) {
      int statsAt = QuantizedOperand.STATS_PER_HEAD * head;
      operand.chooseUnit(head, stats[statsAt]);
      operand.setRoundingError(head, stats[statsAt + 1], operand.totals()[head]);
      operand.setOffset(head, stats[statsAt + 2]);
    }
  }

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
    if (firstTile >= endTile) {
      return;
    }
    Bounds.check(layout.tiles(), endTile);
    Bounds.check(codes.byteSize(), offset, layout.bytes());
    Bounds.check(out);
    operand.fillConstants(layout.bits());
    if (takesMany(layout, operand.heads())) {
      addManyDots(layout, codes, offset, firstTile, endTile, operand, out);
    } else {
      addFewDots(layout, codes, offset, firstTile, endTile, operand, out);
    }
  }

  private static void addFewDots(
      WordLayout layout,
      MemorySegment codes,
      long offset,
      int firstTile,
      int endTile,
      QuantizedOperand operand,
      RowBlock out) {
    QuantizedOperand.Views views = operand.views();
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
          views.bytes(),
          operand.heads(),
          operand.exact() ? 1 : 0,
          views.units(),
          views.constants());
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }

  private static void addManyDots(
      WordLayout layout,
      MemorySegment codes,
      long offset,
      int firstTile,
      int endTile,
      QuantizedOperand operand,
      RowBlock out) {
    QuantizedOperand.Views views = operand.views();
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
          views.bytes(),
          operand.heads(),
          operand.exact() ? 1 : 0,
          views.units(),
          views.constants(),
          CallScratch.ofThisThread());
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }

  private static boolean takesMany(WordLayout layout, int heads) {
    return MANY_DOTS != null
        && heads >= MANY
        && layout.bits() <= MAX_BITS_OF_MANY
        && layout.rows() * WordLayout.TILE <= CallScratch.BYTES;
  }

  @Override
  public void addScaledDots(
      RowBlock x,
      boolean exact,
      RowScaledCodes codes,
      MemorySegment bytes,
      long offset,
      QuantizedOperand operand,
      RowBlock out) {
    if (takesMany(codes.layout(), x.rows())) {
      DotKernels.super.addScaledDots(x, exact, codes, bytes, offset, operand, out);
      return;
    }
    x.requireShape(x.rows(), codes.rows());
    out.requireShape(x.rows(), codes.columns());
    operand.begin(x.rows(), x.width(), exact);
    Bounds.checkMultiple("columns", codes.columns(), WordLayout.TILE);
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
          operand.callScratch(),
          x.rows(),
          codes.rows(),
          codes.bits(),
          codes.columns(),
          codes.group(),
          codes.unit(),
          exact ? 1 : 0,
          bytes,
          offset);
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }

  @Override
  public void shortSums(
      RowBlock weights, MemorySegment codes, long offset, int codesStride, RowBlock out) {
    out.requireShape(weights.rows(), out.width());
    int depth = weights.width();
    long last = (long) (depth - 1) * codesStride + out.width();
    Bounds.check(codes.byteSize(), offset, depth == 0 ? 0 : 2 * last);
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
          depth,
          out.width());
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }
}
