package dev.kvasir.simd;

import dev.kvasir.kernel.CodedMatrix;
import dev.kvasir.kernel.CodedRow;
import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.FixedRows;
import dev.kvasir.kernel.HalfQueries;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.LookupTables;
import dev.kvasir.kernel.Matrix;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.page.PlaneLayout;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

/**
 * Vector kernels that begin as scalar ones. Vector code that is not yet compiled boxes every vector
 * and runs a hundred times slower than plain loops, which would make the first words of a fresh
 * process wait for seconds. So a thread of its own tries the vector kernels that were asked for on
 * small data until they are compiled, and each takes over once it is the faster one. Both give the
 * same bits, so nobody can tell from the results when that was.
 */
final class WarmingKernels implements Kernels {
  private final ScalarKernels scalar;
  private final VectorKernels vector;
  private final PriorityBlockingQueue<Family> waiting = new PriorityBlockingQueue<>();
  private final AtomicBoolean begun = new AtomicBoolean();

  // In the order in which they are tried where several wait: products with weights matter most.
  private final Family bytes = new Family(0, trials -> trials.codedProduct(8));
  private final Family nibbles = new Family(1, trials -> trials.codedProduct(4));
  private final Family products = new Family(2, trials -> trials::products);
  private final Family sums = new Family(3, trials -> trials::weightedSums);
  private final Family rows = new Family(4, trials -> trials::rows);
  private final Family halves = new Family(5, trials -> trials::halves);
  private final Family halfRows = new Family(6, WarmUp::halfRows);
  private final Family lookups = new Family(7, WarmUp::lookup);
  private final Family picks = new Family(8, WarmUp::picks);
  private final Family shortSums = new Family(9, WarmUp::shortSums);
  private final Family codeSums = new Family(10, WarmUp::codeSums);

  WarmingKernels(ScalarKernels scalar, VectorKernels vector) {
    this.scalar = scalar;
    this.vector = vector;
  }

  /**
   * Kernels that are tried together, and not before one of them is asked for: compiling takes the
   * processors from who waits for words.
   */
  private final class Family implements Comparable<Family> {
    private final int place;
    private final Function<WarmUp, WarmUp.Trial> trial;
    private final AtomicBoolean asked = new AtomicBoolean();
    private volatile boolean warm;

    Family(int place, Function<WarmUp, WarmUp.Trial> trial) {
      this.place = place;
      this.trial = trial;
    }

    boolean isWarm() {
      if (!warm && !asked.get() && asked.compareAndSet(false, true)) {
        waiting.add(this);
      }
      return warm;
    }

    Kernels kernels() {
      return isWarm() ? vector : scalar;
    }

    void warmUp(WarmUp trials) {
      warm = trials.vectorWins(trial.apply(trials));
    }

    @Override
    public int compareTo(Family other) {
      return Integer.compare(place, other.place);
    }
  }

  /** Not before the first product is asked for: loading a model needs the processors itself. */
  private void beginOnce() {
    if (!begun.get() && begun.compareAndSet(false, true)) {
      Thread.ofPlatform().daemon().name("kvasir-warm-up").start(this::warmUp);
    }
  }

  private void warmUp() {
    try (WarmUp trials = new WarmUp(scalar, vector)) {
      while (true) {
        waiting.take().warmUp(trials);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public String name() {
    return vector.name();
  }

  /** Prepares for both, since the vector kernel may take over before the row is multiplied. */
  @Override
  public void prepare(CodedRow row, float[] x, int at, int columns, int codeBits) {
    if (coded(codeBits).isWarm()) {
      vector.prepare(row, x, at, columns, codeBits);
    } else {
      vector.prepareSlowly(row, x, at, columns, codeBits);
    }
  }

  @Override
  public void codedProduct(
      CodedMatrix matrix, int firstTile, int endTile, CodedRow row, float[] out, int outAt) {
    Kernels kernels = coded(matrix.codeBits()).kernels();
    beginOnce();
    kernels.codedProduct(matrix, firstTile, endTile, row, out, outAt);
  }

  private Family coded(int codeBits) {
    return codeBits == 8 ? bytes : nibbles;
  }

  @Override
  public void expand(Matrix matrix, int firstRow, int count, float[] out, int outAt) {
    Kernels kernels = matrix instanceof DenseMatrix ? halves.kernels() : scalar;
    kernels.expand(matrix, firstRow, count, out, outAt);
  }

  @Override
  public void products(
      float[] a,
      int aAt,
      int aStride,
      int aRows,
      float[] b,
      int bAt,
      int bStride,
      int bRows,
      int depth,
      float[] c,
      int cAt,
      int cStride) {
    beginOnce();
    Kernels kernels = products.kernels();
    kernels.products(a, aAt, aStride, aRows, b, bAt, bStride, bRows, depth, c, cAt, cStride);
  }

  @Override
  public void weightedSums(
      float[] weights,
      int weightsAt,
      int weightsStride,
      int rowCount,
      float[] v,
      int vAt,
      int vStride,
      int tokens,
      int length,
      float[] out,
      int outAt,
      int outStride) {
    Kernels kernels = sums.kernels();
    kernels.weightedSums(
        weights,
        weightsAt,
        weightsStride,
        rowCount,
        v,
        vAt,
        vStride,
        tokens,
        length,
        out,
        outAt,
        outStride);
  }

  /** Prepares for both, since the vector kernel may take over before the queries are used. */
  @Override
  public void prepare(
      HalfQueries queries, float[] a, int at, int rowCount, int columns, Precision precision) {
    vector.prepare(queries, a, at, rowCount, columns, precision);
  }

  @Override
  public void halfProducts(
      HalfQueries queries,
      DenseMatrix b,
      int firstRow,
      int bRows,
      float[] c,
      int cAt,
      int cStride) {
    beginOnce();
    Kernels kernels = halfRows.kernels();
    kernels.halfProducts(queries, b, firstRow, bRows, c, cAt, cStride);
  }

  @Override
  public void halfSums(
      float[] weights,
      int weightsAt,
      int weightsStride,
      int rowCount,
      DenseMatrix v,
      int firstRow,
      int tokens,
      float[] out,
      int outAt,
      int outStride) {
    Kernels kernels = halfRows.kernels();
    kernels.halfSums(
        weights, weightsAt, weightsStride, rowCount, v, firstRow, tokens, out, outAt, outStride);
  }

  @Override
  public void shortSums(
      float[] weights,
      int weightsAt,
      int weightsStride,
      int rowCount,
      MemorySegment codes,
      long offset,
      int codesStride,
      int entries,
      int lanes,
      float[] out,
      int outAt,
      int outStride) {
    shortSums
        .kernels()
        .shortSums(
            weights,
            weightsAt,
            weightsStride,
            rowCount,
            codes,
            offset,
            codesStride,
            entries,
            lanes,
            out,
            outAt,
            outStride);
  }

  @Override
  public void expandHalf(MemorySegment source, long offset, float[] out, int outAt, int count) {
    halves.kernels().expandHalf(source, offset, out, outAt, count);
  }

  @Override
  public float maximum(float[] x, int at, int count) {
    return rows.kernels().maximum(x, at, count);
  }

  @Override
  public float exponentiate(float[] x, int at, int count, float shift) {
    return rows.kernels().exponentiate(x, at, count, shift);
  }

  @Override
  public void rmsNorm(
      float[] x, int at, float[] weight, float epsilon, float[] out, int outAt, int count) {
    rows.kernels().rmsNorm(x, at, weight, epsilon, out, outAt, count);
  }

  @Override
  public void gatedSilu(float[] gate, float[] up, int at, int count) {
    rows.kernels().gatedSilu(gate, up, at, count);
  }

  @Override
  public void add(float[] x, int at, float[] y, int yAt, int count) {
    rows.kernels().add(x, at, y, yAt, count);
  }

  @Override
  public void pickedProducts(
      float[] a,
      int aRows,
      float[] b,
      int[] picked,
      int pickedAt,
      int count,
      int depth,
      float[] c,
      int cAt,
      int cStride) {
    picks.kernels().pickedProducts(a, aRows, b, picked, pickedAt, count, depth, c, cAt, cStride);
  }

  @Override
  public void turn(
      float[] vectors, int at, int count, int pairs, float[] cosines, float[] sines, int anglesAt) {
    picks.kernels().turn(vectors, at, count, pairs, cosines, sines, anglesAt);
  }

  @Override
  public void unpackStages(MemorySegment source, long offset, int stages, byte[] indices) {
    codeSums.kernels().unpackStages(source, offset, stages, indices);
  }

  @Override
  public void rowSums(FixedRows rows, byte[] indices, int tokens, short[] sums) {
    codeSums.kernels().rowSums(rows, indices, tokens, sums);
  }

  @Override
  public void turnedSums(
      short[] sums,
      int tokens,
      FixedRows rows,
      float[] scales,
      float[] cosines,
      float[] sines,
      float[] out) {
    codeSums.kernels().turnedSums(sums, tokens, rows, scales, cosines, sines, out);
  }

  @Override
  public void pickedSums(
      float[] rows, int at, byte[] indices, int sets, int tokens, int width, float[] sums) {
    codeSums.kernels().pickedSums(rows, at, indices, sets, tokens, width, sums);
  }

  @Override
  public void rowProducts(float[] a, float[] b, int count, int width, float[] out) {
    codeSums.kernels().rowProducts(a, b, count, width, out);
  }

  @Override
  public void collect(
      byte[] indices, int sets, int tokens, float[] weights, int lanes, float[] bins) {
    codeSums.kernels().collect(indices, sets, tokens, weights, lanes, bins);
  }

  @Override
  public void multiply(float[] x, int at, float[] y, int yAt, float[] out, int outAt, int count) {
    rows.kernels().multiply(x, at, y, yAt, out, outAt, count);
  }

  @Override
  public void scale(float[] x, int at, int count, float factor) {
    rows.kernels().scale(x, at, count, factor);
  }

  @Override
  public void buildTables(
      float[] weights,
      int at,
      int stride,
      int heads,
      int entries,
      boolean exact,
      LookupTables tables) {
    lookups.kernels().buildTables(weights, at, stride, heads, entries, exact, tables);
  }

  @Override
  public void lookup(
      PlaneLayout layout,
      MemorySegment codes,
      long offset,
      int firstTile,
      int endTile,
      LookupTables tables,
      float[] out,
      int outAt,
      int outStride) {
    Kernels kernels = lookups.kernels();
    kernels.lookup(layout, codes, offset, firstTile, endTile, tables, out, outAt, outStride);
  }
}
