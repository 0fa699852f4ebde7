package dev.kvasir.codec.commvq;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.kernel.CodebookKernels;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowBlock;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The weights of query rows, summed per codebook row or per bit over all pages of a pass. Heads
 * that share codes and pass together share an instance, which reads the codes of a page once: each
 * head has a few of its columns.
 */
final class ValueBins {
  private static final int PAGE = Page.TOKENS;

  /** Columns that kernels add at once. */
  private static final int COLUMNS = 4;

  private static final int CACHE_LINE = 64;

  private final Kernels kernels;
  private CompactLayerCodebooks codebooks;
  private int heads;
  private int rows; // of a head
  private int stride; // columns of all heads, with padding
  private int awaited; // heads whose weights for the current page are missing
  private final float[] scales = new float[PAGE];
  private byte[] indices = {}; // (sets, PAGE)
  private float[] weights = {}; // (PAGE, stride)
  private MemorySegment bins = MemorySegment.NULL; // (codebook rows, stride) at its beginning
  private MemorySegment scratch = MemorySegment.NULL; // of kernels for bits
  private float[] columns = {}; // (rows, codebook rows)
  private final RowBlock binRows = new RowBlock();
  private final RowBlock outputRows = new RowBlock();

  ValueBins(Kernels kernels) {
    this.kernels = kernels;
  }

  /** Starts a pass of some heads with as many query rows each. */
  void begin(CompactLayerCodebooks layerCodebooks, int headCount, int rowsOfHead) {
    codebooks = layerCodebooks;
    heads = headCount;
    rows = rowsOfHead;
    stride = Math.ceilDiv(heads * rows, COLUMNS) * COLUMNS;
    awaited = heads;
    ensureCapacity();
    Arrays.fill(weights, 0, PAGE * stride, 0);
    clearBins();
  }

  /** Clears the bins of this pass only, without a slice on the heap. */
  private void clearBins() {
    int end = codebooks.valueRows() * stride;
    for (int at = 0; at < end; at++) {
      bins.setAtIndex(JAVA_FLOAT, at, 0);
    }
  }

  private void ensureCapacity() {
    if (indices.length < codebooks.valueSets() * PAGE) {
      indices = new byte[codebooks.valueSets() * PAGE];
    }
    if (weights.length < PAGE * stride) {
      weights = new float[PAGE * stride];
    }
    int count = codebooks.valueRows();
    bins = floats(bins, count * stride);
    if (codebooks.hasValueBits()) {
      scratch = floats(scratch, CodebookKernels.setBitScratch(stride));
    }
    if (columns.length < count * PageReader.MAX_ROWS) {
      columns = new float[count * PageReader.MAX_ROWS];
    }
  }

  /**
   * Returns at least {@code count} floats outside the heap, where they start with a cache line.
   * They are never fewer than before: the columns of a pass may change from layer to layer.
   */
  private static MemorySegment floats(MemorySegment before, int count) {
    long bytes = (long) Float.BYTES * count;
    return before.byteSize() >= bytes ? before : Arena.ofAuto().allocate(bytes, CACHE_LINE);
  }

  /**
   * Adds a head's weights for the tokens of a page.
   *
   * @param head index of the head among those of the pass
   * @param kvHead any head whose values have the same codes
   * @param probabilities // (rows, page tokens)
   * @param inverseScale // (rows)
   * @param totals // (rows), added to
   */
  void add(
      CommvqPage page,
      int head,
      int kvHead,
      float[] probabilities,
      float[] inverseScale,
      float[] totals) {
    if (awaited == heads) {
      page.readValueScales(kernels, scales);
    }
    kernels
        .codebooks()
        .tokenWeights(
            probabilities, rows, inverseScale, scales, stride, totals, weights, head * rows);
    awaited--;
    if (awaited == 0) {
      awaited = heads;
      addToBins(page, kvHead);
    }
  }

  private void addToBins(CommvqPage page, int kvHead) {
    int sets = codebooks.valueSets();
    if (codebooks.hasValueBits()) {
      page.readValueBits(indices);
      kernels.codebooks().addToSetBits(indices, sets, weights, stride, scratch, bins);
    } else {
      page.readValues(kernels, kvHead, indices);
      kernels.codebooks().scatterAdd(indices, sets, PAGE, weights, stride, bins);
    }
  }

  /** Scales the sums of a head's query row. */
  void scale(int head, int row, float factor) {
    int end = codebooks.valueRows() * stride;
    for (int at = head * rows + row; at < end; at += stride) {
      bins.setAtIndex(JAVA_FLOAT, at, bins.getAtIndex(JAVA_FLOAT, at) * factor);
    }
  }

  /**
   * Multiplies the sums of a head with its part of the codebook rows.
   *
   * @param factors // (rows)
   * @param out // (rows, valueDim), set
   */
  void weightedSums(int head, int kvHead, float[] factors, int valueDim, float[] out) {
    int count = codebooks.valueRows();
    kernels.codebooks().scaledColumns(bins, count, stride, head * rows, rows, factors, columns);
    Arrays.fill(out, 0, rows * valueDim, 0);
    kernels
        .halves()
        .weightedSums(
            binRows.set(columns, rows, count),
            codebooks.values().get(kvHead),
            0,
            outputRows.set(out, rows, valueDim));
  }
}
