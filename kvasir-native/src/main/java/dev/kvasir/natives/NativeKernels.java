package dev.kvasir.natives;

import dev.kvasir.kernel.CodebookKernels;
import dev.kvasir.kernel.DotKernels;
import dev.kvasir.kernel.FloatKernels;
import dev.kvasir.kernel.GemmKernels;
import dev.kvasir.kernel.HalfKernels;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.PatternKernels;
import dev.kvasir.kernel.RecurrenceKernels;
import dev.kvasir.kernel.RowCodeKernels;
import dev.kvasir.kernel.RowKernels;
import dev.kvasir.kernel.ScalarKernels;

/**
 * Kernels in C, compiled ahead of time: fast from the first call, with instructions that Java does
 * not expose.
 */
final class NativeKernels implements Kernels {
  private static final ScalarKernels SCALAR = new ScalarKernels();

  private final GemmKernels gemm = new NativeGemm(SCALAR.gemm());
  private final FloatKernels floats = new NativeFloats();
  private final RowKernels rows = new NativeRows();
  private final HalfKernels halves = new NativeHalves(SCALAR.halves(), floats);

  /**
   * Linking a function takes about ten milliseconds at startup, so functions that only some caches
   * or models use are linked on first use.
   */
  private static final class DotsHolder {
    static final DotKernels KERNELS = new NativeDots();
  }

  private static final class PatternsHolder {
    static final PatternKernels KERNELS = new NativePatterns();
  }

  private static final class CodebooksHolder {
    static final CodebookKernels KERNELS = new NativeCodebooks();
  }

  private static final class RowCodesHolder {
    static final RowCodeKernels KERNELS = new NativeRowCodes();
  }

  private static final class RecurrencesHolder {
    static final RecurrenceKernels KERNELS = new NativeRecurrences();
  }

  @Override
  public String name() {
    String vectors = NativeFunctions.integerInstructions().label();
    return "native, %s%s".formatted(vectors, NativeFunctions.hasAmx() ? " and AMX" : "");
  }

  @Override
  public GemmKernels gemm() {
    return gemm;
  }

  @Override
  public FloatKernels floats() {
    return floats;
  }

  @Override
  public RowKernels rows() {
    return rows;
  }

  @Override
  public HalfKernels halves() {
    return halves;
  }

  @Override
  public DotKernels dots() {
    return DotsHolder.KERNELS;
  }

  @Override
  public PatternKernels patterns() {
    return PatternsHolder.KERNELS;
  }

  @Override
  public CodebookKernels codebooks() {
    return CodebooksHolder.KERNELS;
  }

  @Override
  public RowCodeKernels rowCodes() {
    return RowCodesHolder.KERNELS;
  }

  @Override
  public RecurrenceKernels recurrences() {
    return RecurrencesHolder.KERNELS;
  }
}
