package dev.kvasir.kernel;

/**
 * Products of rows of activations with one or more matrices that share them, spread over a crew.
 * What a row becomes does not depend on how many there are.
 *
 * <p>One instance serves one caller at a time.
 */
public final class MatrixProducts {
  private final GroupedProducts products;
  private int rows; // of the products at hand

  public MatrixProducts(Kernels kernels, WorkerPool workers) {
    this(new GroupedProducts(kernels, workers));
  }

  /** Shares the scratch memory of others. */
  public MatrixProducts(GroupedProducts products) {
    this.products = products;
  }

  /** {@code out (rows, matrix.rows) = x (rows, matrix.columns) . matrix}. */
  public void multiply(float[] activations, int count, Matrix matrix, float[] out) {
    begin(activations, count, matrix.columns());
    add(matrix, out);
    run();
  }

  /** Two products of the same activations. */
  public void multiply(
      float[] activations, int count, Matrix first, float[] out1, Matrix second, float[] out2) {
    begin(activations, count, first.columns());
    add(first, out1);
    add(second, out2);
    run();
  }

  /** Begins more products of the same activations: {@link #retain} each, then {@link #run}. */
  public void begin(float[] activations, int count, int columns) {
    products.begin(activations, count, columns);
    rows = count;
  }

  /** Adds {@code out (rows, matrix.rows) = activations . matrix}. */
  public void add(Matrix matrix, float[] out) {
    products.add(matrix, 0, rows, out);
  }

  /** Computes what was added. */
  public void run() {
    products.run();
  }
}
