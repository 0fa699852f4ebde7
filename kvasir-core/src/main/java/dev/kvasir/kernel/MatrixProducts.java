package dev.kvasir.kernel;

import java.util.ArrayList;
import java.util.List;

/**
 * Multiplies rows of activations with one or more matrices in parallel. A row's result does not
 * depend on the number of rows.
 *
 * <p>An instance serves one caller at a time.
 */
public final class MatrixProducts {
  private final GroupedProducts products;
  private final List<Addition> additions = new ArrayList<>();
  private float[] x; // (rows, columns)
  private int rows; // of the current products
  private float[] low = {}; // (rows, rank)
  private float[] delta = {}; // (rows, matrix.rows)

  /** What an adapter adds to the product of its matrix. */
  private record Addition(AdaptedMatrix matrix, float[] out) {}

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
    x = activations;
    rows = count;
    additions.clear();
  }

  /** Adds {@code out (rows, matrix.rows) = activations . matrix}. */
  public void add(Matrix matrix, float[] out) {
    if (matrix instanceof AdaptedMatrix adapted) {
      products.add(adapted.base(), 0, rows, out);
      additions.add(new Addition(adapted, out));
    } else {
      products.add(matrix, 0, rows, out);
    }
  }

  /** Computes the added products. */
  public void run() {
    products.run();
    for (int i = 0; i < additions.size(); i++) {
      addAdapter(additions.get(i).matrix(), additions.get(i).out());
    }
  }

  private void addAdapter(AdaptedMatrix matrix, float[] out) {
    low = withCapacity(low, matrix.rank());
    delta = withCapacity(delta, matrix.rows());
    products.begin(x, rows, matrix.columns());
    products.add(matrix.down(), 0, rows, low);
    products.run();
    products.begin(low, rows, matrix.rank());
    products.add(matrix.up(), 0, rows, delta);
    products.run();
    for (int i = 0; i < rows * matrix.rows(); i++) {
      out[i] += delta[i];
    }
  }

  private float[] withCapacity(float[] array, int width) {
    int wanted = Math.multiplyExact(rows, width);
    return array.length >= wanted ? array : new float[wanted];
  }
}
