package dev.kvasir.kernel;

/**
 * Products of rows of activations with up to three matrices that share them, spread over a crew.
 * What a row becomes does not depend on how many there are.
 *
 * <p>Holds its scratch memory, so one instance serves one caller at a time.
 */
public final class MatrixProducts {
  private static final int TILE = CodedMatrix.TILE_ROWS;

  /** Parts handed out to each worker, so that one that is late is helped by the others. */
  private static final int PARTS_PER_WORKER = 4;

  /** Rows that are coded in one go: below this, handing them out costs as much as coding them. */
  private static final int ROWS_PER_PART = 8;

  private final Kernels kernels;
  private final Crew crew;
  private final CodedRows codedRows = new CodedRows();
  private final TileRoom[] rooms; // a worker each

  // Taken once a product: what one has prepared, the same one multiplies.
  private CodedKernels bytes;
  private CodedKernels nibbles;

  private final Matrix[] matrices = new Matrix[3];
  private final float[][] outputs = new float[3][];
  private int matrixCount;
  private float[] x;
  private int rows;
  private int columns;
  private int tilesPerPart;
  private int tiles;

  private final Crew.Work prepare = this::prepare;
  private final Crew.Work multiply = this::multiply;

  public MatrixProducts(Kernels kernels, Crew crew) {
    this.kernels = kernels;
    this.crew = crew;
    this.rooms = new TileRoom[crew.size()];
    for (int worker = 0; worker < rooms.length; worker++) {
      rooms[worker] = new TileRoom();
    }
  }

  /** {@code out (rows, matrix.rows) = x (rows, matrix.columns) . matrix}. */
  public void multiply(float[] activations, int count, Matrix matrix, float[] out) {
    matrixCount = 0;
    use(matrix, out);
    run(activations, count);
  }

  /** Two products of the same activations. */
  public void multiply(
      float[] activations, int count, Matrix first, float[] out1, Matrix second, float[] out2) {
    matrixCount = 0;
    use(first, out1);
    use(second, out2);
    run(activations, count);
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
    matrixCount = 0;
    use(first, out1);
    use(second, out2);
    use(third, out3);
    run(activations, count);
  }

  private void use(Matrix matrix, float[] out) {
    matrices[matrixCount] = matrix;
    outputs[matrixCount++] = out;
  }

  private void run(float[] activations, int count) {
    x = activations;
    rows = count;
    columns = matrices[0].columns();
    tiles = 0;
    bytes = null;
    nibbles = null;
    for (int m = 0; m < matrixCount; m++) {
      tiles += tilesOf(matrices[m]);
      if (matrices[m] instanceof CodedMatrix coded) {
        takeKernels(coded.codeBits());
      }
    }
    if (bytes != null || nibbles != null) {
      crew.run(prepare, Math.ceilDiv(rows, ROWS_PER_PART));
    }
    tilesPerPart = Math.max(1, tiles / (crew.size() * PARTS_PER_WORKER));
    crew.run(multiply, Math.ceilDiv(tiles, tilesPerPart));
  }

  private void takeKernels(int codeBits) {
    if (codeBits == 8 && bytes == null) {
      bytes = kernels.coded(8);
      bytes.begin(codedRows, rows, columns);
    } else if (codeBits == 4 && nibbles == null) {
      nibbles = kernels.coded(4);
      nibbles.begin(codedRows, rows, columns);
    }
  }

  private void prepare(int part, int worker) {
    int first = part * ROWS_PER_PART;
    int end = Math.min(first + ROWS_PER_PART, rows);
    if (bytes != null) {
      bytes.prepare(codedRows, x, first, end);
    }
    if (nibbles != null) {
      nibbles.prepare(codedRows, x, first, end);
    }
  }

  private static int tilesOf(Matrix matrix) {
    return Math.ceilDiv(matrix.rows(), TILE);
  }

  /**
   * A part is a run of tiles in the row of all matrices' tiles; it may cross from one to another.
   */
  private void multiply(int part, int worker) {
    int first = part * tilesPerPart;
    int end = Math.min(first + tilesPerPart, tiles);
    int base = 0;
    for (int m = 0; m < matrixCount; m++) {
      int count = tilesOf(matrices[m]);
      int from = Math.max(first - base, 0);
      int to = Math.min(end - base, count);
      if (from < to) {
        multiplyTiles(matrices[m], from, to, outputs[m], rooms[worker]);
      }
      base += count;
    }
  }

  private void multiplyTiles(Matrix matrix, int from, int to, float[] out, TileRoom room) {
    switch (matrix) {
      case CodedMatrix codes ->
          (codes.codeBits() == 8 ? bytes : nibbles).products(codes, from, to, codedRows, out, room);
      case DenseMatrix dense -> multiplyDense(dense, from, to, out, room);
    }
  }

  private void multiplyDense(DenseMatrix matrix, int from, int to, float[] out, TileRoom room) {
    for (int tile = from; tile < to; tile++) {
      int firstRow = tile * TILE;
      int count = Math.min(TILE, matrix.rows() - firstRow);
      kernels
          .halves()
          .products(x, rows, matrix, firstRow, count, out, firstRow, matrix.rows(), room);
    }
  }
}
