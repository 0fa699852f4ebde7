package dev.kvasir.kernel;

import java.util.List;

/**
 * Multiplies each head of every row with the matrix of that head, in one parallel task. A row's
 * result does not depend on the number of rows.
 *
 * <p>An instance holds its scratch memory and serves one caller at a time.
 */
public final class HeadProducts {
  /** Rows per part: enough to read a matrix few times, few enough for a worker's scratch memory. */
  private static final int ROWS_PER_PART = 32;

  private static final int TILE = QuantizedWeights.TILE_ROWS;

  private final Kernels kernels;
  private final WorkerPool workers;
  private final HeadScratch[] scratches; // one per worker

  private List<Matrix> matrices; // by head
  private float[] x;
  private int xStride;
  private int rows;
  private float[] out;
  private int outStride;

  private final WorkerPool.ParallelTask multiply = this::multiply;

  /** Scratch memory in which a worker gathers the rows of a head. */
  private static final class HeadScratch {
    private final QuantizedActivations activations = new QuantizedActivations();
    private final TileWorkspace workspace = new TileWorkspace();
    private final RowBlock out = new RowBlock();
    private float[] inputs = {}; // (rows, columns of a matrix)
    private float[] outputs = {}; // (rows, rows of a matrix)

    private void ensureCapacity(int inputCount, int outputCount) {
      inputs = inputs.length < inputCount ? new float[inputCount] : inputs;
      outputs = outputs.length < outputCount ? new float[outputCount] : outputs;
    }
  }

  public HeadProducts(Kernels kernels, WorkerPool workers) {
    this.kernels = kernels;
    this.workers = workers;
    this.scratches = new HeadScratch[workers.size()];
    for (int worker = 0; worker < scratches.length; worker++) {
      scratches[worker] = new HeadScratch();
    }
  }

  /**
   * {@code to[row][head] = matrix of the head . from[row][head]}.
   *
   * @param ofHeads one matrix per head, all of the same shape
   * @param from (count, heads), each {@code fromStride} wide; the first matrix columns are read
   * @param to (count, heads), each {@code toStride} wide; the first matrix rows are set
   */
  public void multiply(
      List<Matrix> ofHeads, int count, float[] from, int fromStride, float[] to, int toStride) {
    matrices = ofHeads;
    rows = count;
    x = from;
    xStride = fromStride;
    out = to;
    outStride = toStride;
    workers.run(multiply, matrices.size() * Math.ceilDiv(rows, ROWS_PER_PART));
  }

  private void multiply(int part, int worker) {
    int heads = matrices.size();
    int head = part % heads;
    int first = part / heads * ROWS_PER_PART;
    int count = Math.min(ROWS_PER_PART, rows - first);
    Matrix matrix = matrices.get(head);
    HeadScratch scratch = scratches[worker];
    scratch.ensureCapacity(count * matrix.columns(), count * matrix.rows());
    int columns = matrix.columns();
    for (int row = 0; row < count; row++) {
      int at = ((first + row) * heads + head) * xStride;
      System.arraycopy(x, at, scratch.inputs, row * columns, columns);
    }
    multiply(matrix, count, scratch);
    for (int row = 0; row < count; row++) {
      int at = ((first + row) * heads + head) * outStride;
      System.arraycopy(scratch.outputs, row * matrix.rows(), out, at, matrix.rows());
    }
  }

  private void multiply(Matrix matrix, int count, HeadScratch scratch) {
    switch (matrix) {
      case QuantizedWeights quantized -> multiplyQuantized(quantized, count, scratch);
      case DenseMatrix dense -> multiplyDense(dense, count, scratch);
      case AdaptedMatrix _ -> throw new IllegalStateException("a product of heads has an adapter");
    }
  }

  private void multiplyQuantized(QuantizedWeights matrix, int count, HeadScratch scratch) {
    GemmKernels gemm = kernels.gemm();
    scratch.activations.begin(count, matrix.columns());
    gemm.quantize(scratch.activations, scratch.inputs, 0, count);
    scratch.out.set(scratch.outputs, count, matrix.rows());
    gemm.products(
        matrix, 0, matrix.tiles(), scratch.activations, 0, scratch.out, scratch.workspace);
  }

  private void multiplyDense(DenseMatrix matrix, int count, HeadScratch scratch) {
    HalfKernels halves = kernels.halves();
    for (int row = 0; row < matrix.rows(); row += TILE) {
      int tileRows = Math.min(TILE, matrix.rows() - row);
      scratch.out.set(scratch.outputs, row, matrix.rows(), count, tileRows);
      halves.products(scratch.inputs, matrix, row, scratch.out, scratch.workspace);
    }
  }
}
