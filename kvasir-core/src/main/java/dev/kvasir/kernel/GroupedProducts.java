package dev.kvasir.kernel;

import java.util.Arrays;

/**
 * A grouped GEMM: multiplies ranges of rows with one matrix each, all in one parallel task. Each
 * matrix is read once for its range of rows. A row's result does not depend on other rows.
 *
 * <p>An instance holds its scratch memory and serves one caller at a time: {@link #begin}, {@link
 * #add} for each matrix, {@link #run}.
 */
public final class GroupedProducts {
  private static final int TILE = QuantizedWeights.TILE_ROWS;

  /** Parts per worker, so that other workers can take over from a slow one. */
  private static final int PARTS_PER_WORKER = 4;

  /** Rows quantized per part; below this, distributing them costs as much as quantizing them. */
  private static final int ROWS_PER_PART = 8;

  /** Cost of loading a tile, in rows multiplied with it. */
  private static final int TILE_LOAD_COST = 2;

  private final Kernels kernels;
  private final WorkerPool workers;
  private final QuantizedActivations quantizedRows = new QuantizedActivations();
  private final WorkerScratch[] scratches;

  private float[] x; // (rows, columns)
  private int rows;
  private int columns;

  // The current products, and the cumulative cost at which each starts.
  private int count;
  private Matrix[] matrices = new Matrix[3];
  private float[][] outputs = new float[3][];
  private int[] firstRows = new int[3];
  private int[] endRows = new int[3];
  private long[] starts = new long[4];
  private long workPerPart;

  private final WorkerPool.ParallelTask quantizeRows = this::quantizeRows;
  private final WorkerPool.ParallelTask multiply = this::multiply;

  /** Scratch memory of one worker. */
  private static final class WorkerScratch {
    private final TileWorkspace workspace = new TileWorkspace();
    private final RowBlock out = new RowBlock();
  }

  public GroupedProducts(Kernels kernels, WorkerPool workers) {
    this.kernels = kernels;
    this.workers = workers;
    this.scratches = new WorkerScratch[workers.size()];
    Arrays.setAll(scratches, worker -> new WorkerScratch());
  }

  /**
   * Starts a new set of products.
   *
   * @param activations // (rows, columns)
   */
  public void begin(float[] activations, int newRows, int newColumns) {
    x = activations;
    rows = newRows;
    columns = newColumns;
    count = 0;
  }

  /**
   * Adds a product: {@code out[i] = matrix . x[i]} for rows {@code firstRow} to {@code endRow}.
   *
   * @param out // (rows, matrix.rows); other rows are not written
   */
  public void add(Matrix matrix, int firstRow, int endRow, float[] out) {
    if (matrix.columns() != columns || firstRow < 0 || firstRow >= endRow || endRow > rows) {
      throw new IllegalArgumentException(
          "rows %d to %d with a matrix of %d columns; expected some of %d rows and %d columns"
              .formatted(firstRow, endRow, matrix.columns(), rows, columns));
    }
    if (count == matrices.length) {
      grow();
    }
    matrices[count] = matrix;
    outputs[count] = out;
    firstRows[count] = firstRow;
    endRows[count] = endRow;
    starts[count + 1] = starts[count] + tilesOf(matrix) * workOfTile(count);
    count++;
  }

  private void grow() {
    int size = 2 * count;
    matrices = Arrays.copyOf(matrices, size);
    outputs = Arrays.copyOf(outputs, size);
    firstRows = Arrays.copyOf(firstRows, size);
    endRows = Arrays.copyOf(endRows, size);
    starts = Arrays.copyOf(starts, size + 1);
  }

  private static long tilesOf(Matrix matrix) {
    return Math.ceilDiv(matrix.rows(), TILE);
  }

  private long workOfTile(int product) {
    return TILE_LOAD_COST + endRows[product] - firstRows[product];
  }

  /** Computes the added products. */
  public void run() {
    long largest = 1;
    boolean anyQuantized = false;
    for (int product = 0; product < count; product++) {
      largest = Math.max(largest, workOfTile(product));
      anyQuantized |= matrices[product] instanceof QuantizedWeights;
    }
    if (anyQuantized) {
      quantizedRows.begin(rows, columns);
      workers.run(quantizeRows, Math.ceilDiv(rows, ROWS_PER_PART));
    }
    workPerPart = Math.max(largest, starts[count] / (workers.size() * PARTS_PER_WORKER));
    workers.run(multiply, (int) Math.ceilDiv(starts[count], workPerPart));
  }

  private void quantizeRows(int part, int worker) {
    int first = part * ROWS_PER_PART;
    int end = Math.min(first + ROWS_PER_PART, rows);
    kernels.gemm().quantize(quantizedRows, x, first, end);
  }

  /**
   * Multiplies the tiles that start within this part's share of the cumulative cost; they may
   * belong to several products.
   */
  private void multiply(int part, int worker) {
    long first = part * workPerPart;
    long end = first + workPerPart;
    for (int product = productAt(first); product < count && starts[product] < end; product++) {
      long work = workOfTile(product);
      long from = Math.ceilDiv(Math.max(first - starts[product], 0), work);
      long to = Math.ceilDiv(Math.min(end, starts[product + 1]) - starts[product], work);
      if (from < to) {
        multiplyTiles(product, (int) from, (int) to, scratches[worker]);
      }
    }
  }

  /** Returns the product that contains a cumulative cost. */
  private int productAt(long work) {
    int found = Arrays.binarySearch(starts, 0, count, work);
    return found >= 0 ? found : -found - 2;
  }

  private void multiplyTiles(int product, int from, int to, WorkerScratch scratch) {
    switch (matrices[product]) {
      case QuantizedWeights quantized -> multiplyQuantized(quantized, product, from, to, scratch);
      case DenseMatrix dense -> multiplyDense(dense, product, from, to, scratch);
      case AdaptedMatrix _ -> throw adapted();
    }
  }

  /** Adapters are added by {@link MatrixProducts}, and loaders give other matrices none. */
  private static IllegalStateException adapted() {
    return new IllegalStateException("a product in groups has an adapter");
  }

  private void multiplyQuantized(
      QuantizedWeights matrix, int product, int from, int to, WorkerScratch scratch) {
    int firstRow = firstRows[product];
    int width = matrix.rows();
    scratch.out.set(outputs[product], firstRow * width, width, endRows[product] - firstRow, width);
    kernels
        .gemm()
        .products(matrix, from, to, quantizedRows, firstRow, scratch.out, scratch.workspace);
  }

  private void multiplyDense(
      DenseMatrix matrix, int product, int from, int to, WorkerScratch scratch) {
    int firstRow = firstRows[product];
    int some = endRows[product] - firstRow;
    float[] a = x;
    if (firstRow > 0) {
      a = scratch.workspace.activations(some * columns);
      System.arraycopy(x, firstRow * columns, a, 0, some * columns);
    }
    for (int tile = from; tile < to; tile++) {
      int at = tile * TILE;
      int height = Math.min(TILE, matrix.rows() - at);
      int outAt = firstRow * matrix.rows() + at;
      scratch.out.set(outputs[product], outAt, matrix.rows(), some, height);
      kernels.halves().products(a, matrix, at, scratch.out, scratch.workspace);
    }
  }
}
