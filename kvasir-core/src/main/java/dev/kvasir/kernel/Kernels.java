package dev.kvasir.kernel;

/**
 * The arithmetic of the engine, grouped into families of kernels. Kernels work on plain arrays and
 * segments, or on operands that point to them such as {@link RowBlock}. They allocate nothing and
 * may run on any number of threads with different outputs. {@link ScalarKernels} defines each
 * result to the last bit; other implementations are only faster.
 */
public interface Kernels {
  /** Returns a short human-readable name that says what the kernels run on. */
  String name();

  GemmKernels gemm();

  FloatKernels floats();

  RowKernels rows();

  HalfKernels halves();

  DotKernels dots();

  PatternKernels patterns();

  CodebookKernels codebooks();

  RowCodeKernels rowCodes();

  RecurrenceKernels recurrences();

  /** Writes rows {@code firstRow} to {@code firstRow + count} of a matrix as floats. */
  default void expand(Matrix matrix, int firstRow, int count, float[] out, int outAt) {
    switch (matrix) {
      case DenseMatrix dense -> halves().expand(dense, firstRow, count, out, outAt);
      case QuantizedWeights quantized -> gemm().dequantize(quantized, firstRow, count, out, outAt);
      case AdaptedMatrix adapted -> {
        expand(adapted.base(), firstRow, count, out, outAt);
        adapted.addTo(firstRow, count, out, outAt);
      }
    }
  }
}
