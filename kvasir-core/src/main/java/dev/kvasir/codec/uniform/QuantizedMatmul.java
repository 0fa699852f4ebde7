package dev.kvasir.codec.uniform;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.QuantizedOperand;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.page.Bf16Codes;
import dev.kvasir.page.CodeMatrix;
import dev.kvasir.page.CodeScratch;
import dev.kvasir.page.ColumnScaledCodes;
import dev.kvasir.page.KeyChannels;
import dev.kvasir.page.LloydMaxCodes;
import dev.kvasir.page.RowScaledCodes;
import dev.kvasir.page.ScaleSpan;
import dev.kvasir.page.WideCodes;
import dev.kvasir.page.WordLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Multiplies a few rows of floats with a matrix of codes, on its packed bits: {@code
 * out[row][column] += sum over k of x[row][k] * number(k, column)}. Scores have channels as the
 * inner dimension k, attention outputs have tokens.
 *
 * <pre>
 * scale of a row k:     sum of (x_k scale_k) code + sum of x_k zero_k
 * scale of a column c:  scale_c * sum of x_k code + zero_c * sum of x_k
 * </pre>
 *
 * <p>An instance belongs to one thread.
 */
public final class QuantizedMatmul {
  private final Kernels kernels;
  private final CodeScratch scratch;
  private final QuantizedOperand operand;
  private final OperandCache operandCache;
  private final int maxSize; // maximum rows or columns of a matrix, padded to tiles
  private final float[] weights; // (rows, depth), for 16-bit codes
  private final float[] scales;
  private final float[] zeros;
  private final float[] constants; // (rows)
  private final float[] sums; // (rows, columns)
  private final float[] edgeSums; // (rows, columns)
  private float[]
      expanded = {}; // (columns, depth) for 16-bit codes by column, or (depth, columns) for levels
  private DenseMatrix halves; // (depth, columns), null until needed
  private final RowBlock groupRows = new RowBlock(); // a group of output columns
  private final RowBlock weightRows = new RowBlock();
  private final RowBlock vectorRows = new RowBlock();
  private final RowBlock constantRows = new RowBlock();
  private final RowBlock sumRows = new RowBlock();
  private final RowBlock edgeRows = new RowBlock();

  /**
   * Allocates buffers.
   *
   * @param maxChannels maximum channels of a key or of a value
   */
  public QuantizedMatmul(PageWorkspace workspace, int maxRows, int maxChannels) {
    this.kernels = workspace.kernels();
    this.scratch = workspace.codes();
    int channels = Math.ceilDiv(maxChannels, WordLayout.TILE) * WordLayout.TILE;
    this.maxSize = Math.max(channels, Page.TOKENS);
    this.operand = new QuantizedOperand(maxRows, maxSize);
    this.operandCache = new OperandCache(kernels, maxRows, maxSize);
    this.weights = new float[maxRows * maxSize];
    this.scales = new float[maxSize];
    this.zeros = new float[maxSize];
    this.constants = new float[maxRows];
    this.sums = new float[maxRows * maxSize];
    this.edgeSums = new float[maxRows * maxSize];
  }

  /** Discards the quantized operands of column-scaled matrices, because the input rows change. */
  public void invalidateOperands() {
    operandCache.invalidate();
  }

  /**
   * Adds the product with a matrix.
   *
   * @param x (rows, rows of the matrix)
   * @param out (rows, columns of the matrix), added to
   */
  public void add(
      CodeMatrix matrix,
      MemorySegment bytes,
      long offset,
      RowBlock x,
      boolean exact,
      RowBlock out) {
    x.requireShape(x.rows(), matrix.rows());
    out.requireShape(x.rows(), matrix.columns());
    switch (matrix) {
      case RowScaledCodes codes -> addRowScaled(codes, bytes, offset, x, exact, out);
      case ColumnScaledCodes codes -> addColumnScaled(codes, bytes, offset, x, exact, out);
      case Bf16Codes codes -> addHalves(codes, bytes, offset, x, out);
      case WideCodes codes -> addWide(codes, bytes, offset, x, out);
      case LloydMaxCodes codes -> addLevels(codes, bytes, offset, x, out);
      case KeyChannels codes ->
          throw new IllegalArgumentException("%s has no codes of its own".formatted(codes));
    }
  }

  private void addWide(
      WideCodes codes, MemorySegment bytes, long offset, RowBlock x, RowBlock out) {
    if (codes.byColumn()) {
      addWideByColumn(codes, bytes, offset, x, out);
      return;
    }
    int depth = codes.rows();
    for (int group = 0; group < codes.groups(); group++) {
      long scalesAt = offset + codes.scalesOffset(group);
      long zerosAt = offset + codes.zerosOffset(group);
      readScales(bytes, scalesAt, zerosAt, ScaleSpan.THIRD, codes.bits(), depth);
      for (int index = 0; index < depth; index++) {
        zeros[index] += WideCodes.MIDDLE * scales[index];
      }
      foldScales(x);
      int first = group * codes.group();
      int count = Math.min(codes.group(), codes.columns() - first);
      groupRows.setColumns(out, first, count);
      addConstants(groupRows);
      long at = offset + 2L * first;
      weightRows.set(weights, x.rows(), depth);
      kernels.dots().shortSums(weightRows, bytes, at, codes.columns(), groupRows);
    }
  }

  private void addConstants(RowBlock out) {
    for (int row = 0; row < out.rows(); row++) {
      int at = out.at(row);
      for (int column = at; column < at + out.width(); column++) {
        out.values()[column] += constants[row];
      }
    }
  }

  private void addWideByColumn(
      WideCodes codes, MemorySegment bytes, long offset, RowBlock x, RowBlock out) {
    int columns = codes.columns();
    ensureCapacity(codes.rows() * columns);
    codes.dequantizeRows(scratch, bytes, offset, expanded);
    vectorRows.set(expanded, columns, codes.rows());
    kernels.floats().products(x, vectorRows, sumRows.set(sums, x.rows(), columns));
    addSums(out);
  }

  private void addSums(RowBlock out) {
    for (int row = 0; row < out.rows(); row++) {
      kernels.rows().add(out.values(), out.at(row), sums, row * out.width(), out.width());
    }
  }

  private void addLevels(
      LloydMaxCodes codes, MemorySegment bytes, long offset, RowBlock x, RowBlock out) {
    ensureCapacity(codes.rows() * codes.columns());
    codes.dequantize(scratch, bytes, offset, expanded);
    vectorRows.set(expanded, codes.rows(), codes.columns());
    kernels.floats().weightedSums(x, vectorRows, out);
  }

  private void ensureCapacity(int count) {
    if (expanded.length < count) {
      expanded = new float[count];
    }
  }

  /** Copies the few bytes into a matrix that is reused, to avoid garbage. */
  private void addHalves(
      Bf16Codes codes, MemorySegment bytes, long offset, RowBlock x, RowBlock out) {
    if (halves == null || halves.rows() < codes.rows() || halves.columns() != codes.columns()) {
      halves = allocateHalves(codes);
    }
    MemorySegment.copy(bytes, offset, halves.data(), 0, codes.bytes());
    kernels.halves().weightedSums(x, halves, 0, out);
  }

  /**
   * Allocates native memory, which matrices of codes use too, so that kernels see one kind of
   * memory.
   */
  private DenseMatrix allocateHalves(Bf16Codes codes) {
    Bf16Codes largest = new Bf16Codes(maxSize, codes.columns());
    MemorySegment data = Arena.ofAuto().allocate(largest.bytes());
    return new DenseMatrix(Precision.BF16, largest.rows(), largest.columns(), data);
  }

  private void addRowScaled(
      RowScaledCodes codes,
      MemorySegment bytes,
      long offset,
      RowBlock x,
      boolean exact,
      RowBlock out) {
    if (codes.columns() % WordLayout.TILE == 0) {
      kernels.dots().addScaledDots(x, exact, codes, bytes, offset, operand, out);
      return;
    }
    WordLayout layout = codes.layout();
    for (int group = 0; group < codes.groups(); group++) {
      long scalesAt = offset + codes.scalesOffset(group);
      long zerosAt = offset + codes.zerosOffset(group);
      kernels
          .dots()
          .quantizeScaledOperand(x, bytes, scalesAt, zerosAt, codes.unit(), exact, operand);
      int first = group * codes.group();
      int count = Math.min(codes.group(), codes.columns() - first);
      groupRows.setColumns(out, first, count);
      addDots(layout, bytes, offset, first, operand, groupRows);
    }
  }

  private void addColumnScaled(
      ColumnScaledCodes codes,
      MemorySegment bytes,
      long offset,
      RowBlock x,
      boolean exact,
      RowBlock out) {
    int rows = x.rows();
    int columns = codes.columns();
    OperandCache.CachedOperand cached = operandCache.get(x, exact);
    Arrays.fill(sums, 0, rows * columns, 0);
    sumRows.set(sums, rows, columns);
    addDots(codes.layout(), bytes, offset, 0, cached.operand(), sumRows);
    long scalesAt = offset + codes.scalesOffset();
    readScales(bytes, scalesAt, offset + codes.zerosOffset(), codes.span(), codes.bits(), columns);
    for (int row = 0; row < rows; row++) {
      kernels.rows().multiply(sums, row * columns, scales, 0, sums, row * columns, columns);
    }
    addSums(out);
    weightRows.set(cached.sums(), rows, 1);
    kernels.floats().weightedSums(weightRows, vectorRows.set(zeros, 1, columns), out);
  }

  /** Reads scales as the step between adjacent codes, and zeros. */
  private void readScales(
      MemorySegment bytes, long scalesAt, long zerosAt, ScaleSpan span, int bits, int count) {
    kernels.halves().expand(bytes, scalesAt, scales, 0, count);
    if (span != ScaleSpan.STEP) {
      kernels.rows().scale(scales, 0, count, span.unit(bits));
    }
    kernels.halves().expand(bytes, zerosAt, zeros, 0, count);
  }

  /** Multiplies the input by row scales, and computes the contribution of zeros. */
  private void foldScales(RowBlock x) {
    int depth = x.width();
    for (int row = 0; row < x.rows(); row++) {
      kernels.rows().multiply(x.values(), x.at(row), scales, 0, weights, row * depth, depth);
    }
    vectorRows.set(zeros, 1, depth);
    kernels.floats().products(x, vectorRows, constantRows.set(constants, x.rows(), 1));
  }

  /**
   * Adds the products with the columns from {@code first} on. Tiles that extend beyond the matrix
   * are summed in a separate buffer, because the memory after them belongs to the next row.
   *
   * @param out (rows, columns), added to
   */
  private void addDots(
      WordLayout layout,
      MemorySegment bytes,
      long offset,
      int first,
      QuantizedOperand operand,
      RowBlock out) {
    int firstTile = first / WordLayout.TILE;
    int endTile = Math.ceilDiv(first + out.width(), WordLayout.TILE);
    int columns = (endTile - firstTile) * WordLayout.TILE;
    if (columns == out.width()) {
      kernels.dots().addDots(layout, bytes, offset, firstTile, endTile, operand, out);
      return;
    }
    Arrays.fill(edgeSums, 0, out.rows() * columns, 0);
    edgeRows.set(edgeSums, out.rows(), columns);
    kernels.dots().addDots(layout, bytes, offset, firstTile, endTile, operand, edgeRows);
    for (int row = 0; row < out.rows(); row++) {
      kernels.rows().add(out.values(), out.at(row), edgeSums, row * columns, out.width());
    }
  }
}
