package dev.kvasir.simd;

import dev.kvasir.kernel.CodeBands;
import dev.kvasir.kernel.CodeWeights;
import dev.kvasir.kernel.CodedKernels;
import dev.kvasir.kernel.CodedLayout;
import dev.kvasir.kernel.CodedMatrix;
import dev.kvasir.kernel.CodedRows;
import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.Family;
import dev.kvasir.kernel.FixedRows;
import dev.kvasir.kernel.HalfQueries;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.NibbleRows;
import dev.kvasir.kernel.RowCodes;
import dev.kvasir.kernel.TileRoom;
import dev.kvasir.page.PageSize;
import dev.kvasir.page.StageCodes;
import dev.kvasir.page.WordLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

/**
 * Runs kernels on small made-up data, in turns with their scalar twins, until the compiler has seen
 * enough of them.
 */
final class WarmUp implements AutoCloseable {
  /** A kernel and something for it to do. */
  interface Trial {
    void run(Kernels kernels);
  }

  /** Wins in a row that are no accident of timing. */
  private static final int WINS = 5;

  /** Beyond this a kernel is not going to be compiled; its scalar twin stays in use. */
  private static final long PATIENCE_NANOS = 30_000_000_000L;

  /** A trial this short says nothing about speed, so several are timed together. */
  private static final int RUNS_TIMED_TOGETHER = 4;

  private static final int COLUMNS = 256;
  private static final int TOKENS = 32;
  private static final int HEAD = 64;

  private final Kernels scalar;
  private final Kernels vector;

  /** Of the kind that weights live in, or the compiler would have seen the wrong one. */
  private final Arena arena = Arena.ofShared();

  private final float[] x = new float[16 * COLUMNS];
  private final float[] y = new float[16 * COLUMNS];
  private final float[] z = new float[16 * COLUMNS];

  WarmUp(Kernels scalar, Kernels vector) {
    this.scalar = scalar;
    this.vector = vector;
    for (int i = 0; i < x.length; i++) {
      x[i] = (i % 7 - 3) * 0.25f;
      y[i] = (i % 5 - 2) * 0.5f;
    }
  }

  Trial of(Family family) {
    return switch (family) {
      case BYTES -> coded(8);
      case NIBBLES -> coded(4);
      case FLOATS -> floats();
      case ROWS -> rows();
      case HALVES -> halves();
      case DOTS -> dots();
      case PATTERNS -> patterns();
      case CODEBOOKS -> codebooks();
      case ROW_CODES -> rowCodes();
    };
  }

  /** Tries both until the vector kernel wins for good; false if it never does. */
  boolean vectorWins(Trial trial) {
    long start = System.nanoTime();
    int wins = 0;
    while (wins < WINS) {
      long before = System.nanoTime();
      runSome(trial, vector);
      long between = System.nanoTime();
      runSome(trial, scalar);
      long after = System.nanoTime();
      wins = between - before < after - between ? wins + 1 : 0;
      if (after - start > PATIENCE_NANOS) {
        return false;
      }
    }
    return true;
  }

  /**
   * Several kernels as one trial. Each is a step of its own, or the compiler would take them all
   * for one method, too large for its vectors to stay in registers.
   */
  private static Trial inTurn(Trial... steps) {
    return kernels -> {
      for (Trial step : steps) {
        step.run(kernels);
      }
    };
  }

  private static void runSome(Trial trial, Kernels kernels) {
    for (int i = 0; i < RUNS_TIMED_TOGETHER; i++) {
      trial.run(kernels);
    }
  }

  /** One row, and many: four at a time and one. */
  private Trial coded(int codeBits) {
    boolean minimums = codeBits == 4;
    CodedMatrix matrix =
        new CodedMatrix(
            arena,
            CodedLayout.LANES,
            CodedMatrix.TILE_ROWS,
            COLUMNS,
            codeBits,
            CodedRows.GROUP,
            minimums);
    CodedRows row = new CodedRows();
    CodedRows rows = new CodedRows();
    TileRoom room = new TileRoom();
    return inTurn(
        kernels -> multiply(kernels.coded(codeBits), matrix, row, 1, room),
        kernels -> multiply(kernels.coded(codeBits), matrix, rows, 13, room));
  }

  private void multiply(
      CodedKernels kernels, CodedMatrix matrix, CodedRows rows, int count, TileRoom room) {
    kernels.begin(rows, count, COLUMNS);
    kernels.prepare(rows, x, 0, count);
    kernels.products(matrix, 0, 1, rows, z, room);
  }

  private Trial dots() {
    return inTurn(weights(), words(), shortSums());
  }

  private Trial weights() {
    MemorySegment scales = arena.allocate(4 * HEAD);
    CodeWeights fast = new CodeWeights(2, HEAD);
    CodeWeights exact = new CodeWeights(2, HEAD);
    return kernels -> {
      kernels.dots().weighScaled(x, 0, HEAD, 2, HEAD, scales, 0, 2 * HEAD, 0.5f, true, exact);
      kernels.dots().weigh(x, 0, HEAD, 2, HEAD, false, fast);
    };
  }

  /**
   * Every path once: seven heads are taken four and one at a time, 60 entries of five bits are
   * words of two widths and quads that fill none. A path that the compiler has not seen would throw
   * its work away when it comes.
   */
  private Trial words() {
    WordLayout pair = new WordLayout(48, 60, 2);
    WordLayout several = new WordLayout(48, 60, 5);
    WordLayout bytes = new WordLayout(16, 60, 8);
    MemorySegment codes = arena.allocate(several.bytes());
    CodeWeights fast = new CodeWeights(7, HEAD);
    CodeWeights exact = new CodeWeights(2, HEAD);
    return kernels -> {
      kernels.dots().weigh(x, 0, HEAD, 7, 60, false, fast);
      kernels.dots().weigh(x, 0, HEAD, 2, 60, true, exact);
      kernels.dots().addDots(pair, codes, 0, 0, pair.tiles(), fast, z, 0, HEAD);
      kernels.dots().addDots(several, codes, 0, 0, several.tiles(), fast, z, 0, HEAD);
      kernels.dots().addDots(bytes, codes, 0, 0, bytes.tiles(), exact, z, 0, HEAD);
      kernels.dots().addDots(pair, codes, 0, 0, pair.tiles(), exact, z, 0, HEAD);
      kernels.dots().addDots(several, codes, 0, 0, several.tiles(), exact, z, 0, HEAD);
      kernels.rows().scale(z, 0, 7 * HEAD, 0); // or they would grow without bound
    };
  }

  private Trial halves() {
    DenseMatrix row =
        new DenseMatrix(DenseMatrix.Precision.BF16, 1, COLUMNS, arena.allocate(2 * COLUMNS));
    TileRoom room = new TileRoom();
    return inTurn(
        kernels -> kernels.halves().expand(row.data(), 0, z, 0, COLUMNS),
        kernels -> kernels.halves().expand(row, 0, 1, z, 0),
        kernels -> kernels.halves().products(x, 1, row, 0, 1, z, 0, 1, room),
        halfRows());
  }

  /** Both kinds of halves, four rows at a time and one. */
  private Trial halfRows() {
    MemorySegment data = arena.allocate(2L * TOKENS * HEAD);
    HalfQueries queries = new HalfQueries(5, HEAD);
    DenseMatrix halves = new DenseMatrix(DenseMatrix.Precision.F16, TOKENS, HEAD, data);
    DenseMatrix brains = new DenseMatrix(DenseMatrix.Precision.BF16, TOKENS, HEAD, data);
    return kernels -> {
      for (DenseMatrix rows : List.of(halves, brains)) {
        kernels.halves().prepare(queries, x, 0, 5, HEAD, rows.precision());
        kernels.halves().products(queries, rows, 0, TOKENS, z, 0, TOKENS);
        kernels.halves().weightedSums(x, 0, TOKENS, 5, rows, 0, TOKENS, z, 0, HEAD);
      }
      kernels.rows().scale(z, 0, 5 * HEAD, 0); // or they would grow without bound
    };
  }

  /** Rows four at a time and one. */
  private Trial shortSums() {
    MemorySegment codes = arena.allocate(2L * TOKENS * HEAD);
    return kernels -> {
      kernels.dots().shortSums(x, 0, TOKENS, 5, codes, 0, HEAD, TOKENS, HEAD, z, 0, HEAD);
      kernels.rows().scale(z, 0, 5 * HEAD, 0); // or they would grow without bound
    };
  }

  /** Rows four at a time and one, and vectors that turn. */
  private Trial patterns() {
    int[] picked = new int[7];
    float[] still = new float[HEAD];
    return kernels -> {
      kernels.patterns().pickedProducts(x, 5, y, picked, 0, picked.length, HEAD / 2, z, 0, TOKENS);
      kernels.patterns().turn(z, 0, 2, HEAD, y, still, 0);
      kernels.patterns().spans(x, 0, y, 0, 5, HEAD, still, still);
      kernels.rows().scale(z, 0, 5 * TOKENS, 0); // or they would grow without bound
    };
  }

  /** Codes of two stages, rows of as many pairs as every tile needs, and weights of few rows. */
  private Trial codebooks() {
    int stages = 2;
    int sets = 2 * stages;
    int pairs = 112;
    int tokens = 16;
    MemorySegment codes = arena.allocate(new StageCodes(stages).bytes());
    byte[] indices = new byte[sets * PageSize.TOKENS];
    byte[] numbers = new byte[sets * FixedRows.ROWS * 2 * pairs];
    FixedRows fixed = new FixedRows(sets, pairs, numbers, new float[pairs], new float[2 * pairs]);
    short[] rowSums = new short[tokens * 2 * pairs];
    float[] floats = new float[numbers.length];
    float[] products = new float[tokens];
    float[] leasts = new float[FixedRows.ROWS];
    float[] bins = new float[sets * FixedRows.ROWS * 8];
    return inTurn(
        kernels -> kernels.codebooks().unpackStages(codes, 0, stages, indices),
        kernels -> kernels.codebooks().turnedSums(fixed, indices, 0, tokens, x, x, y, rowSums, z),
        kernels -> kernels.codebooks().collect(indices, sets, tokens, x, 4, bins),
        kernels -> kernels.codebooks().collect(indices, sets, tokens, x, 8, bins),
        kernels -> kernels.codebooks().pickedSums(floats, 0, indices, sets, tokens, 2 * pairs, z),
        kernels -> kernels.codebooks().rowProducts(z, y, tokens, 2 * pairs, products),
        kernels -> kernels.codebooks().leastDistances(floats, 0, floats, 0, leasts),
        kernels ->
            kernels.rows().scale(bins, 0, bins.length, 0)); // or they would grow without bound
  }

  /** Codes of every width. */
  private Trial rowCodes() {
    int tokens = 16;
    int[] bits = new int[HEAD];
    Arrays.setAll(bits, i -> i % (RowCodes.MOST_BITS + 1));
    RowCodes codes = new RowCodes(bits, new float[HEAD]);
    MemorySegment rows = arena.allocate((long) tokens * codes.rowBytes() + RowCodes.BYTES_BEHIND);
    NibbleRows base =
        new NibbleRows(arena.allocate(HEAD / 2), HEAD / 2, HEAD, new float[HEAD], new float[HEAD]);
    MemorySegment halves = arena.allocate(2L * HEAD);
    CodeBands bands = CodeBands.of(List.of(codes), tokens);
    float[] lows = base.lows();
    byte[] order = new byte[tokens];
    int[] picked = new int[tokens];
    float[] out = new float[tokens * HEAD];
    return inTurn(
        kernels -> kernels.rowCodes().decode(rows, 0, bands, base, lows, order, picked, out),
        kernels -> kernels.rowCodes().gather(halves, 0, HEAD, picked, tokens, HEAD, out),
        kernels -> kernels.rowCodes().turnEach(out, tokens, HEAD / 2, x, y));
  }

  private Trial floats() {
    return inTurn(
        kernels -> kernels.floats().products(x, 0, COLUMNS, 4, y, 0, COLUMNS, 5, COLUMNS, z, 0, 8),
        kernels ->
            kernels.floats().weightedSums(x, 0, TOKENS, 5, y, 0, HEAD, TOKENS, HEAD, z, 0, HEAD),
        kernels -> kernels.rows().scale(z, 0, 5 * HEAD, 0)); // or they would grow without bound
  }

  private Trial rows() {
    return inTurn(
        kernels -> kernels.rows().rmsNorm(x, 0, y, 1e-6f, z, 0, COLUMNS),
        kernels -> kernels.rows().gatedSilu(z, y, 0, COLUMNS),
        kernels -> kernels.rows().gatedGelu(z, y, 0, COLUMNS),
        kernels ->
            kernels.rows().exponentiate(z, 0, COLUMNS, kernels.rows().maximum(z, 0, COLUMNS)),
        kernels -> kernels.rows().add(z, 0, y, 0, COLUMNS),
        kernels -> kernels.rows().multiply(z, 0, y, 0, z, 0, COLUMNS),
        kernels -> kernels.rows().scale(z, 0, COLUMNS, 0.5f));
  }

  @Override
  public void close() {
    arena.close();
  }
}
