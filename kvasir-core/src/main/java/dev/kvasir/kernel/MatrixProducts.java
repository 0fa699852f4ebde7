package dev.kvasir.kernel;

/**
 * Multiplies rows of activations with one or more matrices in parallel. A row's result does not
 * depend on the number of rows.
 *
 * <p>An instance serves one caller at a time.
 */
public final class MatrixProducts {
  private final GroupedProducts products;
  private int rows; // of the current products

  public MatrixProducts(Kernels kernels, WorkerPool workers) {
    this(new GroupedProducts(kernels, workers));
  }

  /** Shares the scratch memory of {@code products}. */
  public MatrixProducts(GroupedProducts products) {
    this.products = products;
  }

  /** {@code out (rows, matrix.rows) = x (rows, matrix.columns) . matrix}. */
  public void multiply(float[] activations, int count, Matrix matrix, float[] out) {
    begin(activations, count, matrix.columns());
    add(matrix, out);
    run();
  }

  /** Computes two products of the same activations. */
  public void multiply(
      float[] activations, int count, Matrix first, float[] out1, Matrix second, float[] out2) {
    begin(activations, count, first.columns());
    add(first, out1);
    add(second, out2);
    run();
  }

  /**
   * Starts any number of products of the same activations: {@link #add} each, then {@link #run}.
   */
  public void begin(float[] activations, int count, int columns) {
    products.begin(activations, count, columns);
    rows = count;
  }

  /** Adds {@code out (rows, matrix.rows) = activations . matrix}. */
  public void add(Matrix matrix, float[] out) {
    products.add(matrix, 0, rows, out);
  }

  /** Computes the added products. */
  public void run() {
    products.run();
  }
}
