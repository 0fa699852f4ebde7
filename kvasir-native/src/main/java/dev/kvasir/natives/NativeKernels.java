package dev.kvasir.natives;

import dev.kvasir.kernel.CodebookKernels;
import dev.kvasir.kernel.CodedKernels;
import dev.kvasir.kernel.DotKernels;
import dev.kvasir.kernel.FloatKernels;
import dev.kvasir.kernel.HalfKernels;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.PatternKernels;
import dev.kvasir.kernel.RowCodeKernels;
import dev.kvasir.kernel.RowKernels;
import dev.kvasir.kernel.ScalarKernels;

/**
 * The arithmetic in C, compiled beforehand: fast from the first call on, and with instructions that
 * Java cannot name.
 */
final class NativeKernels implements Kernels {
  private static final ScalarKernels SCALAR = new ScalarKernels();

  private final CodedKernels coded = new NativeCoded(SCALAR.coded());
  private final FloatKernels floats = new NativeFloats();
  private final RowKernels rows = new NativeRows();
  private final HalfKernels halves = new NativeHalves(SCALAR.halves(), floats);

  /**
   * Java takes some ten milliseconds of a start to link a function, so those that only some caches
   * call are linked when the first of them calls.
   */
  private static final class Dots {
    static final DotKernels KERNELS = new NativeDots();
  }

  private static final class Patterns {
    static final PatternKernels KERNELS = new NativePatterns();
  }

  private static final class Codebooks {
    static final CodebookKernels KERNELS = new NativeCodebooks();
  }

  private static final class RowCodes {
    static final RowCodeKernels KERNELS = new NativeRowCodes();
  }

  @Override
  public String name() {
    String vectors = Calls.forCodes().words();
    return "native, %s%s".formatted(vectors, Calls.hasTiles() ? " and AMX" : "");
  }

  @Override
  public CodedKernels coded() {
    return coded;
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
    return Dots.KERNELS;
  }

  @Override
  public PatternKernels patterns() {
    return Patterns.KERNELS;
  }

  @Override
  public CodebookKernels codebooks() {
    return Codebooks.KERNELS;
  }

  @Override
  public RowCodeKernels rowCodes() {
    return RowCodes.KERNELS;
  }
}
