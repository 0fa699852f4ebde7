package dev.kvasir.methods.vqllm;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowBlock;
import java.util.Arrays;

/**
 * Accumulates values without dequantizing them. Attention weights are summed per codebook row over
 * all pages of a pass, and the rows are combined once at its end. A token costs one addition per
 * code, a thirty-second of adding its value.
 */
final class BinnedValueAccumulator {
  private static final int PAGE = Page.TOKENS;
  private static final int CHANNELS = ChannelGroups.CHANNELS;

  /** Pending scales below this are applied before precision is lost. */
  private static final float MIN_PENDING_SCALE = 0x1p-40f;

  private final Kernels kernels;
  private final int valueDim;
  private final float[] pendingScales =
      new float[PageReader.MAX_ROWS]; // factor that a row's bins still have to be multiplied by
  private final float[] scales = new float[PAGE];
  private byte[] codes = {}; // (PAGE, groups, stages)
  private float[] bins = {}; // (rows, groups, stages, ROWS)
  private final RowBlock inputRows = new RowBlock();
  private final RowBlock vectorRows = new RowBlock();
  private final RowBlock outputRows = new RowBlock();
  private ResidualCodebooks codebooks; // null until the pass adds a page
  private int groups;
  private int stages;

  BinnedValueAccumulator(Kernels kernels, int valueDim) {
    this.kernels = kernels;
    this.valueDim = valueDim;
  }

  void begin() {
    codebooks = null;
  }

  /**
   * @param weights (rows, PAGE)
   */
  void add(VqllmPage page, int kvHead, float[] weights, int rows) {
    if (codebooks == null) {
      begin(page, rows);
    }
    codes = page.codes(page.layout().values(), kvHead, codes);
    page.readScales(kernels, page.layout().values(), scales);
    for (int row = 0; row < rows; row++) {
      addWeights(weights, row);
    }
  }

  private void begin(VqllmPage page, int rows) {
    codebooks = page.codebooks().values();
    groups = page.layout().values().count();
    stages = page.layout().stages();
    if (bins.length < PageReader.MAX_ROWS * rowBins()) {
      bins = new float[PageReader.MAX_ROWS * rowBins()];
    }
    Arrays.fill(bins, 0, rows * rowBins(), 0);
    Arrays.fill(pendingScales, 1);
  }

  private int rowBins() {
    return groups * stages * ResidualCodebooks.ROWS;
  }

  private void addWeights(float[] weights, int row) {
    float back = 1 / pendingScales[row];
    int codesPerToken = groups * stages;
    int first = row * rowBins();
    for (int token = 0; token < PAGE; token++) {
      float weight = weights[row * PAGE + token] * back * scales[token];
      int code = token * codesPerToken;
      for (int i = 0; i < codesPerToken; i++) {
        bins[first + i * ResidualCodebooks.ROWS + Byte.toUnsignedInt(codes[code + i])] += weight;
      }
    }
  }

  /** Multiplies the row's pending scale; the bins are scaled later. */
  void rescale(int row, float factor) {
    if (codebooks == null) {
      return;
    }
    pendingScales[row] *= factor;
    if (pendingScales[row] < MIN_PENDING_SCALE) {
      applyPendingScale(row);
    }
  }

  private void applyPendingScale(int row) {
    for (int i = row * rowBins(); i < (row + 1) * rowBins(); i++) {
      bins[i] *= pendingScales[row];
    }
    pendingScales[row] = 1;
  }

  /**
   * @param accumulator (rows, valueDim), added to
   */
  void end(int rows, float[] accumulator) {
    if (codebooks == null) {
      return;
    }
    for (int row = 0; row < rows; row++) {
      applyPendingScale(row);
    }
    int groupBins = stages * ResidualCodebooks.ROWS;
    for (int group = 0; group < groups; group++) {
      int at = group * CHANNELS;
      int width = Math.min(CHANNELS, valueDim - at);
      kernels
          .floats()
          .weightedSums(
              inputRows.set(bins, group * groupBins, rowBins(), rows, groupBins),
              vectorRows.set(codebooks.rows(), 0, CHANNELS, groupBins, width),
              outputRows.set(accumulator, at, valueDim, rows, width));
    }
  }
}
