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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

/**
 * Vector kernels that begin as scalar ones. Vector code that is not yet compiled boxes every vector
 * and runs a hundred times slower than plain loops, which would make the first words of a fresh
 * process wait for seconds. So a thread of its own tries the vector kernels that were asked for on
 * small data until they are compiled, and each takes over once it is the faster one. Both give the
 * same bits, so nobody can tell from the results when that was.
 */
final class WarmingKernels implements Kernels {
  private static final long REPORT_PAUSE_NANOS = 20_000_000;

  private final ScalarKernels scalar;
  private final VectorKernels vector;
  private final PriorityBlockingQueue<KernelFamily> waiting = new PriorityBlockingQueue<>();
  private final AtomicBoolean begun = new AtomicBoolean();
  private final List<KernelFamily> families = new ArrayList<>();

  // In the order in which they are tried where several wait: products with weights matter most.
  private final KernelFamily bytes =
      family("products with weights of bytes", trials -> trials.codedProduct(8));
  private final KernelFamily nibbles =
      family("products with weights of nibbles", trials -> trials.codedProduct(4));
  private final KernelFamily products = family("products of floats", trials -> trials::products);
  private final KernelFamily sums =
      family("weighted sums of floats", trials -> trials::weightedSums);
  private final KernelFamily rows = family("norms and exponentials", WarmUp::rows);
  private final KernelFamily halves = family("halves to floats", trials -> trials::halves);
  private final KernelFamily halfRows = family("attention on halves", WarmUp::halfRows);
  private final KernelFamily lookups = family("attention on packed bits", WarmUp::lookup);
  private final KernelFamily picks = family("patterns that turn", WarmUp::picks);
  private final KernelFamily shortSums = family("sums of 16-bit codes", WarmUp::shortSums);
  private final KernelFamily codeSums = family("sums of codebook rows", WarmUp::codeSums);

  WarmingKernels(ScalarKernels scalar, VectorKernels vector) {
    this.scalar = scalar;
    this.vector = vector;
  }

  private KernelFamily family(String familyName, Function<WarmUp, WarmUp.Trial> trial) {
    KernelFamily family = new KernelFamily(familyName, families.size(), trial, waiting::add);
    families.add(family);
    return family;
  }

  private Kernels of(KernelFamily family) {
    return family.isWarm() ? vector : scalar;
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
        waiting.take().tryOut(trials);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public String name() {
    return vector.name();
  }

  /** Tries all that has not been tried. */
  @Override
  public List<String> report() {
    beginOnce();
    families.forEach(KernelFamily::isWarm);
    while (!families.stream().allMatch(KernelFamily::isDecided)) {
      LockSupport.parkNanos(REPORT_PAUSE_NANOS);
    }
    return families.stream().map(KernelFamily::report).toList();
  }

  @Override
  public void expectLookups() {
    lookups.isWarm();
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
    Kernels kernels = of(coded(matrix.codeBits()));
    beginOnce();
    kernels.codedProduct(matrix, firstTile, endTile, row, out, outAt);
  }

  /** Weights are expanded for a prompt: what a token after it needs is tried meanwhile. */
  private void expectTokens(int codeBits) {
    coded(codeBits).isWarm();
    halfRows.isWarm();
  }

  private KernelFamily coded(int codeBits) {
    return codeBits == 8 ? bytes : nibbles;
  }

  @Override
  public void expand(Matrix matrix, int firstRow, int count, float[] out, int outAt) {
    if (matrix instanceof CodedMatrix weights) {
      expectTokens(weights.codeBits());
    }
    Kernels kernels = matrix instanceof DenseMatrix ? of(halves) : scalar;
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
    Kernels kernels = of(products);
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
    Kernels kernels = of(sums);
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
    Kernels kernels = of(halfRows);
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
    Kernels kernels = of(halfRows);
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
    of(shortSums)
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
    of(halves).expandHalf(source, offset, out, outAt, count);
  }

  @Override
  public float maximum(float[] x, int at, int count) {
    return of(rows).maximum(x, at, count);
  }

  @Override
  public float exponentiate(float[] x, int at, int count, float shift) {
    return of(rows).exponentiate(x, at, count, shift);
  }

  @Override
  public void rmsNorm(
      float[] x, int at, float[] weight, float epsilon, float[] out, int outAt, int count) {
    of(rows).rmsNorm(x, at, weight, epsilon, out, outAt, count);
  }

  @Override
  public void gatedSilu(float[] gate, float[] up, int at, int count) {
    of(rows).gatedSilu(gate, up, at, count);
  }

  @Override
  public void add(float[] x, int at, float[] y, int yAt, int count) {
    of(rows).add(x, at, y, yAt, count);
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
    of(picks).pickedProducts(a, aRows, b, picked, pickedAt, count, depth, c, cAt, cStride);
  }

  @Override
  public void turn(
      float[] vectors, int at, int count, int pairs, float[] cosines, float[] sines, int anglesAt) {
    of(picks).turn(vectors, at, count, pairs, cosines, sines, anglesAt);
  }

  @Override
  public void unpackStages(MemorySegment source, long offset, int stages, byte[] indices) {
    of(codeSums).unpackStages(source, offset, stages, indices);
  }

  @Override
  public void rowSums(FixedRows rows, byte[] indices, int tokens, short[] sums) {
    of(codeSums).rowSums(rows, indices, tokens, sums);
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
    of(codeSums).turnedSums(sums, tokens, rows, scales, cosines, sines, out);
  }

  @Override
  public void pickedSums(
      float[] rows, int at, byte[] indices, int sets, int tokens, int width, float[] sums) {
    of(codeSums).pickedSums(rows, at, indices, sets, tokens, width, sums);
  }

  @Override
  public void rowProducts(float[] a, float[] b, int count, int width, float[] out) {
    of(codeSums).rowProducts(a, b, count, width, out);
  }

  @Override
  public void collect(
      byte[] indices, int sets, int tokens, float[] weights, int lanes, float[] bins) {
    of(codeSums).collect(indices, sets, tokens, weights, lanes, bins);
  }

  @Override
  public void multiply(float[] x, int at, float[] y, int yAt, float[] out, int outAt, int count) {
    of(rows).multiply(x, at, y, yAt, out, outAt, count);
  }

  @Override
  public void scale(float[] x, int at, int count, float factor) {
    of(rows).scale(x, at, count, factor);
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
    of(lookups).buildTables(weights, at, stride, heads, entries, exact, tables);
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
    Kernels kernels = of(lookups);
    kernels.lookup(layout, codes, offset, firstTile, endTile, tables, out, outAt, outStride);
  }
}
