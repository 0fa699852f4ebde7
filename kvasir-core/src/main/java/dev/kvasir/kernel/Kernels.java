package dev.kvasir.kernel;

/**
 * The arithmetic of the engine, in families. Every method of a family works on plain arrays and
 * segments, allocates nothing, and may be called from any number of threads on different outputs.
 * {@link ScalarKernels} says what each one means, to the last bit; others only do it faster.
 *
 * <p>Ask for a family where it is used: which one serves may change while a process warms up.
 */
public interface Kernels {
  /** A short name for people: what it runs on and how wide. */
  String name();

  /** For people: what serves a family, and why. May take seconds where that has to be found out. */
  String serving(Family family);

  /**
   * @param codeBits 4 or 8
   */
  CodedKernels coded(int codeBits);

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
      case CodedMatrix codes -> coded(codes.codeBits()).expand(codes, firstRow, count, out, outAt);
    }
  }
}
