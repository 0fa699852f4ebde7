package dev.kvasir.kernel;

/**
 * The arithmetic of the engine, in families. Every method of a family works on plain arrays and
 * segments, or on operands that point to them as {@link RowBlock} does, allocates nothing, and may
 * be called from any number of threads on different outputs. {@link ScalarKernels} says what each
 * one means, to the last bit; others only do it faster.
 */
public interface Kernels {
  /** A short name for people: what it runs on. */
  String name();

  GemmKernels gemm();

  FloatKernels floats();

  RowKernels rows();

  HalfKernels halves();

  DotKernels dots();

  PatternKernels patterns();

  CodebookKernels codebooks();

  RowCodeKernels rowCodes();

  /** Rows {@code firstRow} to {@code firstRow + count} of a matrix as floats. */
  default void expand(Matrix matrix, int firstRow, int count, float[] out, int outAt) {
    switch (matrix) {
      case DenseMatrix dense -> halves().expand(dense, firstRow, count, out, outAt);
      case QuantizedWeights quantized -> gemm().dequantize(quantized, firstRow, count, out, outAt);
    }
  }
}
