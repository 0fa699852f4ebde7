package dev.kvasir.kernel;

import java.util.Arrays;

/**
 * Products of rows of activations with up to three matrices that share them, spread over a crew.
 * One token at a time reads the weights as they are coded; many tokens are worth expanding a tile
 * of weights to floats once and using it for all of them ({@link RowRuns}).
 *
 * <p>Holds its scratch memory, so one instance serves one caller at a time.
 */
public final class MatrixProducts implements Crew.Work {
  private static final int TILE = CodedMatrix.TILE_ROWS;

  /** Parts handed out to each worker, so that one that is late is helped by the others. */
  private static final int PARTS_PER_WORKER = 4;

  private final Kernels kernels;
  private final Crew crew;
  private final int mostColumns;
  private CodedRow[] codedRows = {}; // one for each of the few rows, in their order
  private final float[][] expanded; // (worker, TILE * mostColumns)

  // Taken once a product: what one has prepared, the same one multiplies.
  private CodedKernels bytes;
  private CodedKernels nibbles;

  private final Matrix[] matrices = new Matrix[3];
  private final float[][] outputs = new float[3][];
  private int matrixCount;
  private float[] x;
  private RowRuns runs;
  private int columns;
  private int tilesPerPart;
  private int tiles;

  public MatrixProducts(Kernels kernels, Crew crew, int mostColumns) {
    this.kernels = kernels;
    this.crew = crew;
    this.mostColumns = mostColumns;
    this.expanded = new float[crew.size()][Math.multiplyExact(TILE, mostColumns)];
  }

  /** {@code out (rows, matrix.rows) = x (rows, matrix.columns) . matrix}. */
  public void multiply(float[] activations, RowRuns rows, Matrix matrix, float[] out) {
    matrixCount = 0;
    use(matrix, out);
    run(activations, rows);
  }

  /** Two products of the same activations. */
  public void multiply(
      float[] activations, RowRuns rows, Matrix first, float[] out1, Matrix second, float[] out2) {
    matrixCount = 0;
    use(first, out1);
    use(second, out2);
    run(activations, rows);
  }

  /** Three products of the same activations. */
  public void multiply(
      float[] activations,
      RowRuns rows,
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
    run(activations, rows);
  }

  private void use(Matrix matrix, float[] out) {
    matrices[matrixCount] = matrix;
    outputs[matrixCount++] = out;
  }

  private void run(float[] activations, RowRuns rows) {
    x = activations;
    runs = rows;
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
    codeFewRows();
    tilesPerPart = Math.max(1, tiles / (crew.size() * PARTS_PER_WORKER));
    crew.run(this, Math.ceilDiv(tiles, tilesPerPart));
  }

  private void takeKernels(int codeBits) {
    if (codeBits == 8) {
      bytes = kernels.coded(8);
    } else {
      nibbles = kernels.coded(4);
    }
  }

  private void codeFewRows() {
    int coded = 0;
    for (int run = 0; run < runs.runs(); run++) {
      for (int row = runs.first(run); runs.isFew(run) && row < runs.end(run); row++) {
        CodedRow codes = codedRow(coded++);
        if (bytes != null) {
          bytes.prepare(codes, x, row * columns, columns);
        }
        if (nibbles != null) {
          nibbles.prepare(codes, x, row * columns, columns);
        }
      }
    }
  }

  private CodedRow codedRow(int index) {
    if (index == codedRows.length) {
      codedRows = Arrays.copyOf(codedRows, Math.max(1, 2 * index));
    }
    if (codedRows[index] == null) {
      codedRows[index] = new CodedRow(mostColumns);
    }
    return codedRows[index];
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
    boolean many = !(matrix instanceof CodedMatrix);
    int coded = 0;
    for (int run = 0; run < runs.runs(); run++) {
      if (matrix instanceof CodedMatrix codes && runs.isFew(run)) {
        coded = multiplyCoded(codes, from, to, run, coded, out);
      } else {
        many = true;
      }
    }
    if (many) {
      multiplyExpanded(matrix, from, to, out, expanded[worker]);
    }
  }

  /** Answers how many coded rows there have been by now. */
  private int multiplyCoded(CodedMatrix matrix, int from, int to, int run, int coded, float[] out) {
    CodedKernels serving = matrix.codeBits() == 8 ? bytes : nibbles;
    int index = coded;
    for (int row = runs.first(run); row < runs.end(run); row++) {
      int outAt = row * matrix.rows() + from * TILE;
      serving.product(matrix, from, to, codedRows[index++], out, outAt);
    }
    return index;
  }

  private void multiplyExpanded(Matrix matrix, int from, int to, float[] out, float[] weights) {
    boolean isCoded = matrix instanceof CodedMatrix;
    for (int tile = from; tile < to; tile++) {
      int firstRow = tile * TILE;
      int count = Math.min(TILE, matrix.rows() - firstRow);
      kernels.expand(matrix, firstRow, count, weights, 0);
      for (int run = 0; run < runs.runs(); run++) {
        if (isCoded && runs.isFew(run)) {
          continue;
        }
        int row = runs.first(run);
        kernels
            .floats()
            .products(
                x,
                row * columns,
                columns,
                runs.end(run) - row,
                weights,
                0,
                columns,
                count,
                columns,
                out,
                row * matrix.rows() + firstRow,
                matrix.rows());
      }
    }
  }
}
