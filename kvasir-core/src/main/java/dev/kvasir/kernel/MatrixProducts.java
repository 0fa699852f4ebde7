package dev.kvasir.kernel;

/**
 * Products of rows of activations with up to three matrices that share them, spread over a crew.
 * What a row becomes does not depend on how many there are.
 *
 * <p>One instance serves one caller at a time.
 */
public final class MatrixProducts {
  private final GroupedProducts products;

  public MatrixProducts(Kernels kernels, Crew crew) {
    this(new GroupedProducts(kernels, crew));
  }

  /** Shares the scratch memory of others. */
  public MatrixProducts(GroupedProducts products) {
    this.products = products;
  }

  /** {@code out (rows, matrix.rows) = x (rows, matrix.columns) . matrix}. */
  public void multiply(float[] activations, int count, Matrix matrix, float[] out) {
    products.begin(activations, count, matrix.columns());
    products.add(matrix, 0, count, out);
    products.run();
  }

  /** Two products of the same activations. */
  public void multiply(
      float[] activations, int count, Matrix first, float[] out1, Matrix second, float[] out2) {
    products.begin(activations, count, first.columns());
    products.add(first, 0, count, out1);
    products.add(second, 0, count, out2);
    products.run();
  }

  /** Three products of the same activations. */
  public void multiply(
      float[] activations,
      int count,
      Matrix first,
      float[] out1,
      Matrix second,
      float[] out2,
      Matrix third,
      float[] out3) {
    products.begin(activations, count, first.columns());
    products.add(first, 0, count, out1);
    products.add(second, 0, count, out2);
    products.add(third, 0, count, out3);
    products.run();
  }
}
