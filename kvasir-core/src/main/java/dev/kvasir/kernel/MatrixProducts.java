package dev.kvasir.kernel;

/**
 * Products of a few rows of activations with up to three matrices that share them, spread over a
 * crew. One token at a time reads the weights as they are coded; many tokens are worth expanding a
 * tile of weights to floats once and using it for all of them.
 *
 * <p>Holds its scratch memory, so one instance serves one caller at a time.
 */
public final class MatrixProducts implements Crew.Work {
  /**
   * Up to this many rows the coded form is multiplied directly. Expanding costs about as much as
   * ten coded products of the same weights.
   */
  private static final int MOST_CODED_ROWS = 8;

  private static final int TILE = CodedMatrix.TILE_ROWS;

  /** Parts handed out to each worker, so that one that is late is helped by the others. */
  private static final int PARTS_PER_WORKER = 4;

  private final Kernels kernels;
  private final Crew crew;
  private final CodedRow[] codedRows = new CodedRow[MOST_CODED_ROWS];
  private final float[][] expanded; // (worker, TILE * mostColumns)

  private final Matrix[] matrices = new Matrix[3];
  private final float[][] outputs = new float[3][];
  private int matrixCount;
  private float[] x;
  private int rows;
  private int columns;
  private int tilesPerPart;
  private int tiles;

  public MatrixProducts(Kernels kernels, Crew crew, int mostColumns) {
    this.kernels = kernels;
    this.crew = crew;
    this.expanded = new float[crew.size()][TILE * mostColumns];
    for (int i = 0; i < MOST_CODED_ROWS; i++) {
      codedRows[i] = new CodedRow(mostColumns);
    }
  }

  /** {@code out (rows, matrix.rows) = x (rows, matrix.columns) . matrix}. */
  public void multiply(float[] activations, int rowCount, Matrix matrix, float[] out) {
    matrixCount = 0;
    use(matrix, out);
    run(activations, rowCount);
  }

  /** Two products of the same activations. */
  public void multiply(
      float[] activations, int rowCount, Matrix first, float[] out1, Matrix second, float[] out2) {
    matrixCount = 0;
    use(first, out1);
    use(second, out2);
    run(activations, rowCount);
  }

  /** Three products of the same activations. */
  public void multiply(
      float[] activations,
      int rowCount,
      Matrix first,
      float[] out1,
      Matrix second,
      float[] out2,
      Matrix third,
      float[] out3) {
    matrixCount = 0;
    use(first, out1);
    use(second, out2);
    use(third, out3);
    run(activations, rowCount);
  }

  private void use(Matrix matrix, float[] out) {
    matrices[matrixCount] = matrix;
    outputs[matrixCount++] = out;
  }

  private void run(float[] activations, int rowCount) {
    x = activations;
    rows = rowCount;
    columns = matrices[0].columns();
    tiles = 0;
    boolean bytes = false;
    boolean nibbles = false;
    for (int m = 0; m < matrixCount; m++) {
      tiles += tilesOf(matrices[m]);
      if (matrices[m] instanceof CodedMatrix coded) {
        bytes |= coded.codeBits() == 8;
        nibbles |= coded.codeBits() == 4;
      }
    }
    if (rows <= MOST_CODED_ROWS) {
      for (int r = 0; r < rows; r++) {
        if (bytes) {
          kernels.prepare(codedRows[r], x, r * columns, columns, 8);
        }
        if (nibbles) {
          kernels.prepare(codedRows[r], x, r * columns, columns, 4);
        }
      }
    }
    tilesPerPart = Math.max(1, tiles / (crew.size() * PARTS_PER_WORKER));
    crew.run(this, Math.ceilDiv(tiles, tilesPerPart));
  }

  private static int tilesOf(Matrix matrix) {
    return Math.ceilDiv(matrix.rows(), TILE);
  }

  /**
   * A part is a run of tiles in the row of all matrices' tiles; it may cross from one to another.
   */
  @Override
  public void part(int part, int worker) {
    int first = part * tilesPerPart;
    int end = Math.min(first + tilesPerPart, tiles);
    int base = 0;
    for (int m = 0; m < matrixCount; m++) {
      int count = tilesOf(matrices[m]);
      int from = Math.max(first - base, 0);
      int to = Math.min(end - base, count);
      if (from < to) {
        multiplyTiles(matrices[m], from, to, outputs[m], worker);
      }
      base += count;
    }
  }

  private void multiplyTiles(Matrix matrix, int from, int to, float[] out, int worker) {
    if (matrix instanceof CodedMatrix coded && rows <= MOST_CODED_ROWS) {
      for (int r = 0; r < rows; r++) {
        int outAt = r * matrix.rows() + from * TILE;
        kernels.codedProduct(coded, from, to, codedRows[r], out, outAt);
      }
      return;
    }
    float[] weights = expanded[worker];
    for (int tile = from; tile < to; tile++) {
      int firstRow = tile * TILE;
      int count = Math.min(TILE, matrix.rows() - firstRow);
      kernels.expand(matrix, firstRow, count, weights, 0);
      kernels.products(
          x, 0, columns, rows, weights, 0, columns, count, columns, out, firstRow, matrix.rows());
    }
  }
}
