package dev.kvasir.codec.uniform;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageRoom;
import dev.kvasir.kernel.CodeWeights;
import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.page.CodeGrid;
import dev.kvasir.page.CodeRoom;
import dev.kvasir.page.EntryScaledCodes;
import dev.kvasir.page.HalfCodes;
import dev.kvasir.page.KeyChannels;
import dev.kvasir.page.LaneScaledCodes;
import dev.kvasir.page.LevelCodes;
import dev.kvasir.page.ScaleSpan;
import dev.kvasir.page.WideCodes;
import dev.kvasir.page.WordLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Sums over a grid of codes on its packed bits, for a few rows of weights: {@code out[row][lane] +=
 * sum over entries of x[row][entry] * number(entry, lane)}. That is scores, where entries are
 * channels, and outputs, where they are tokens.
 *
 * <pre>
 * scale of an entry: sum of (x_e scale_e) code + sum of x_e zero_e
 * scale of a lane:   scale_l * sum of x_e code + zero_l * sum of x_e
 * </pre>
 */
public final class GridSums {
  private final Kernels kernels;
  private final CodeRoom room;
  private final CodeWeights rounded;
  private final KeptWeights kept;
  private final int most; // entries, or lanes, of a grid, filled up to tiles
  private final float[] weights; // (rows, entries) of codes of 16 bits
  private final float[] scales;
  private final float[] zeros;
  private final float[] constants; // (rows)
  private final float[] sums; // (rows, lanes)
  private final float[] beside; // (rows, lanes)
  private float[] expanded = {}; // (lanes, entries) of codes of 16 bits by lane, or of levels
  private DenseMatrix halves; // (entries, lanes), once there are any

  /**
   * @param mostChannels of a key, or of a value
   */
  public GridSums(PageRoom worker, int mostRows, int mostChannels) {
    this.kernels = worker.kernels();
    this.room = worker.codes();
    int channels = Math.ceilDiv(mostChannels, WordLayout.TILE) * WordLayout.TILE;
    this.most = Math.max(channels, Page.TOKENS);
    this.rounded = new CodeWeights(mostRows, most);
    this.kept = new KeptWeights(kernels, mostRows, most);
    this.weights = new float[mostRows * most];
    this.scales = new float[most];
    this.zeros = new float[most];
    this.constants = new float[mostRows];
    this.sums = new float[mostRows * most];
    this.beside = new float[mostRows * most];
  }

  /** Weights of grids that are scaled by lane are other ones from now on. */
  public void begin() {
    kept.forget();
  }

  /**
   * Adds the sums of a grid.
   *
   * @param x (rows, entries of the grid), {@code xStride} apart, from {@code xAt} on
   * @param out (rows, lanes of the grid), {@code outStride} apart, from {@code outAt} on
   */
  public void add(
      CodeGrid grid,
      MemorySegment bytes,
      long offset,
      float[] x,
      int xAt,
      int xStride,
      int rows,
      boolean exact,
      float[] out,
      int outAt,
      int outStride) {
    switch (grid) {
      case EntryScaledCodes codes ->
          addEntryScaled(codes, bytes, offset, x, xAt, xStride, rows, exact, out, outAt, outStride);
      case LaneScaledCodes codes ->
          addLaneScaled(codes, bytes, offset, x, xAt, xStride, rows, exact, out, outAt, outStride);
      case HalfCodes codes ->
          addHalves(codes, bytes, offset, x, xAt, xStride, rows, out, outAt, outStride);
      case WideCodes codes ->
          addWide(codes, bytes, offset, x, xAt, xStride, rows, out, outAt, outStride);
      case LevelCodes codes ->
          addLevels(codes, bytes, offset, x, xAt, xStride, rows, out, outAt, outStride);
      case KeyChannels codes ->
          throw new IllegalArgumentException("%s has no codes of its own".formatted(codes));
    }
  }

  private void addWide(
      WideCodes codes,
      MemorySegment bytes,
      long offset,
      float[] x,
      int xAt,
      int xStride,
      int rows,
      float[] out,
      int outAt,
      int outStride) {
    if (codes.byLane()) {
      addWideByLane(codes, bytes, offset, x, xAt, xStride, rows, out, outAt, outStride);
      return;
    }
    int entries = codes.entries();
    for (int group = 0; group < codes.groups(); group++) {
      long scalesAt = offset + codes.scalesOffset(group);
      long zerosAt = offset + codes.zerosOffset(group);
      readScales(bytes, scalesAt, zerosAt, ScaleSpan.THIRD, codes.bits(), entries);
      for (int entry = 0; entry < entries; entry++) {
        zeros[entry] += WideCodes.MIDDLE * scales[entry];
      }
      weigh(x, xAt, xStride, rows, entries);
      int first = group * codes.group();
      int count = Math.min(codes.group(), codes.lanes() - first);
      addConstants(rows, count, out, outAt + first, outStride);
      long at = offset + 2L * first;
      int stride = codes.lanes();
      kernels
          .dots()
          .shortSums(
              weights,
              0,
              entries,
              rows,
              bytes,
              at,
              stride,
              entries,
              count,
              out,
              outAt + first,
              outStride);
    }
  }

  private void addConstants(int rows, int lanes, float[] out, int outAt, int outStride) {
    for (int row = 0; row < rows; row++) {
      int at = outAt + row * outStride;
      for (int lane = at; lane < at + lanes; lane++) {
        out[lane] += constants[row];
      }
    }
  }

  private void addWideByLane(
      WideCodes codes,
      MemorySegment bytes,
      long offset,
      float[] x,
      int xAt,
      int xStride,
      int rows,
      float[] out,
      int outAt,
      int outStride) {
    int entries = codes.entries();
    int lanes = codes.lanes();
    makeRoom(entries * lanes);
    codes.expandRows(room, bytes, offset, expanded);
    kernels
        .floats()
        .products(x, xAt, xStride, rows, expanded, 0, entries, lanes, entries, sums, 0, lanes);
    for (int row = 0; row < rows; row++) {
      kernels.rows().add(out, outAt + row * outStride, sums, row * lanes, lanes);
    }
  }

  private void addLevels(
      LevelCodes codes,
      MemorySegment bytes,
      long offset,
      float[] x,
      int xAt,
      int xStride,
      int rows,
      float[] out,
      int outAt,
      int outStride) {
    int entries = codes.entries();
    int lanes = codes.lanes();
    makeRoom(entries * lanes);
    codes.expand(room, bytes, offset, expanded);
    kernels
        .floats()
        .weightedSums(
            x, xAt, xStride, rows, expanded, 0, lanes, entries, lanes, out, outAt, outStride);
  }

  private void makeRoom(int count) {
    if (expanded.length < count) {
      expanded = new float[count];
    }
  }

  /** The few bytes are copied to where a matrix lies ready: a new one each time is garbage. */
  private void addHalves(
      HalfCodes codes,
      MemorySegment bytes,
      long offset,
      float[] x,
      int xAt,
      int xStride,
      int rows,
      float[] out,
      int outAt,
      int outStride) {
    if (halves == null || halves.rows() < codes.entries() || halves.columns() != codes.lanes()) {
      halves = roomForHalves(codes);
    }
    MemorySegment.copy(bytes, offset, halves.data(), 0, codes.bytes());
    kernels
        .halves()
        .weightedSums(x, xAt, xStride, rows, halves, 0, codes.entries(), out, outAt, outStride);
  }

  /** Outside the heap, as grids are, so that kernels meet one kind of memory. */
  private DenseMatrix roomForHalves(HalfCodes codes) {
    HalfCodes largest = new HalfCodes(most, codes.lanes());
    MemorySegment data = Arena.ofAuto().allocate(largest.bytes());
    return new DenseMatrix(Precision.BF16, largest.entries(), largest.lanes(), data);
  }

  private void addEntryScaled(
      EntryScaledCodes codes,
      MemorySegment bytes,
      long offset,
      float[] x,
      int xAt,
      int xStride,
      int rows,
      boolean exact,
      float[] out,
      int outAt,
      int outStride) {
    if (codes.lanes() % WordLayout.TILE == 0) {
      kernels
          .dots()
          .addScaledDots(
              x, xAt, xStride, rows, exact, codes, bytes, offset, rounded, out, outAt, outStride);
      return;
    }
    int entries = codes.entries();
    WordLayout layout = codes.layout();
    for (int group = 0; group < codes.groups(); group++) {
      long scalesAt = offset + codes.scalesOffset(group);
      long zerosAt = offset + codes.zerosOffset(group);
      kernels
          .dots()
          .weighScaled(
              x,
              xAt,
              xStride,
              rows,
              entries,
              bytes,
              scalesAt,
              zerosAt,
              codes.unit(),
              exact,
              rounded);
      int first = group * codes.group();
      int end = Math.min(first + codes.group(), codes.lanes());
      addDots(layout, bytes, offset, first, end, rows, rounded, out, outAt + first, outStride);
    }
  }

  private void addLaneScaled(
      LaneScaledCodes codes,
      MemorySegment bytes,
      long offset,
      float[] x,
      int xAt,
      int xStride,
      int rows,
      boolean exact,
      float[] out,
      int outAt,
      int outStride) {
    int entries = codes.entries();
    int lanes = codes.lanes();
    WordLayout layout = codes.layout();
    KeptWeights.Kept known = kept.of(x, xAt, xStride, rows, entries, exact);
    Arrays.fill(sums, 0, rows * lanes, 0);
    addDots(layout, bytes, offset, 0, lanes, rows, known.weights(), sums, 0, lanes);
    long scalesAt = offset + codes.scalesOffset();
    readScales(bytes, scalesAt, offset + codes.zerosOffset(), codes.span(), codes.bits(), lanes);
    for (int row = 0; row < rows; row++) {
      kernels.rows().multiply(sums, row * lanes, scales, 0, sums, row * lanes, lanes);
      kernels.rows().add(out, outAt + row * outStride, sums, row * lanes, lanes);
    }
    kernels
        .floats()
        .weightedSums(known.sums(), 0, 1, rows, zeros, 0, lanes, 1, lanes, out, outAt, outStride);
  }

  /** Scales as steps from a code to the next, and zeros. */
  private void readScales(
      MemorySegment bytes, long scalesAt, long zerosAt, ScaleSpan span, int bits, int count) {
    kernels.halves().expand(bytes, scalesAt, scales, 0, count);
    if (span != ScaleSpan.STEP) {
      kernels.rows().scale(scales, 0, count, span.unit(bits));
    }
    kernels.halves().expand(bytes, zerosAt, zeros, 0, count);
  }

  /** What codes are multiplied by where a scale belongs to an entry, and what their zeros add. */
  private void weigh(float[] x, int xAt, int xStride, int rows, int entries) {
    for (int row = 0; row < rows; row++) {
      int from = xAt + row * xStride;
      kernels.rows().multiply(x, from, scales, 0, weights, row * entries, entries);
    }
    kernels
        .floats()
        .products(x, xAt, xStride, rows, zeros, 0, entries, 1, entries, constants, 0, 1);
  }

  /**
   * Sums of lanes {@code first} to {@code end}. Tiles that go beyond the grid's last lane are
   * summed beside, since what lies behind them belongs to the next row.
   */
  private void addDots(
      WordLayout layout,
      MemorySegment bytes,
      long offset,
      int first,
      int end,
      int rows,
      CodeWeights by,
      float[] out,
      int outAt,
      int outStride) {
    int firstTile = first / WordLayout.TILE;
    int endTile = Math.ceilDiv(end, WordLayout.TILE);
    if (end % WordLayout.TILE == 0) {
      kernels.dots().addDots(layout, bytes, offset, firstTile, endTile, by, out, outAt, outStride);
      return;
    }
    int lanes = (endTile - firstTile) * WordLayout.TILE;
    Arrays.fill(beside, 0, rows * lanes, 0);
    kernels.dots().addDots(layout, bytes, offset, firstTile, endTile, by, beside, 0, lanes);
    for (int row = 0; row < rows; row++) {
      kernels.rows().add(out, outAt + row * outStride, beside, row * lanes, end - first);
    }
  }
}
