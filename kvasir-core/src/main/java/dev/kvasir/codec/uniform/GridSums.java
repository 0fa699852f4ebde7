package dev.kvasir.codec.uniform;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageRoom;
import dev.kvasir.kernel.CodeWeights;
import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowBlock;
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
  private final RowBlock groupRows = new RowBlock(); // columns of an output
  private final RowBlock weightRows = new RowBlock();
  private final RowBlock vectorRows = new RowBlock();
  private final RowBlock constantRows = new RowBlock();
  private final RowBlock sumRows = new RowBlock();
  private final RowBlock besideRows = new RowBlock();

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
   * @param x (rows, entries of the grid)
   * @param out (rows, lanes of the grid), added to
   */
  public void add(
      CodeGrid grid, MemorySegment bytes, long offset, RowBlock x, boolean exact, RowBlock out) {
    x.requireShape(x.rows(), grid.entries());
    out.requireShape(x.rows(), grid.lanes());
    switch (grid) {
      case EntryScaledCodes codes -> addEntryScaled(codes, bytes, offset, x, exact, out);
      case LaneScaledCodes codes -> addLaneScaled(codes, bytes, offset, x, exact, out);
      case HalfCodes codes -> addHalves(codes, bytes, offset, x, out);
      case WideCodes codes -> addWide(codes, bytes, offset, x, out);
      case LevelCodes codes -> addLevels(codes, bytes, offset, x, out);
      case KeyChannels codes ->
          throw new IllegalArgumentException("%s has no codes of its own".formatted(codes));
    }
  }

  private void addWide(
      WideCodes codes, MemorySegment bytes, long offset, RowBlock x, RowBlock out) {
    if (codes.byLane()) {
      addWideByLane(codes, bytes, offset, x, out);
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
      weigh(x);
      int first = group * codes.group();
      int count = Math.min(codes.group(), codes.lanes() - first);
      groupRows.setColumns(out, first, count);
      addConstants(groupRows);
      long at = offset + 2L * first;
      weightRows.set(weights, x.rows(), entries);
      kernels.dots().shortSums(weightRows, bytes, at, codes.lanes(), groupRows);
    }
  }

  private void addConstants(RowBlock out) {
    for (int row = 0; row < out.rows(); row++) {
      int at = out.at(row);
      for (int lane = at; lane < at + out.width(); lane++) {
        out.values()[lane] += constants[row];
      }
    }
  }

  private void addWideByLane(
      WideCodes codes, MemorySegment bytes, long offset, RowBlock x, RowBlock out) {
    int lanes = codes.lanes();
    makeRoom(codes.entries() * lanes);
    codes.expandRows(room, bytes, offset, expanded);
    vectorRows.set(expanded, lanes, codes.entries());
    kernels.floats().products(x, vectorRows, sumRows.set(sums, x.rows(), lanes));
    addSums(out);
  }

  private void addSums(RowBlock out) {
    for (int row = 0; row < out.rows(); row++) {
      kernels.rows().add(out.values(), out.at(row), sums, row * out.width(), out.width());
    }
  }

  private void addLevels(
      LevelCodes codes, MemorySegment bytes, long offset, RowBlock x, RowBlock out) {
    makeRoom(codes.entries() * codes.lanes());
    codes.expand(room, bytes, offset, expanded);
    vectorRows.set(expanded, codes.entries(), codes.lanes());
    kernels.floats().weightedSums(x, vectorRows, out);
  }

  private void makeRoom(int count) {
    if (expanded.length < count) {
      expanded = new float[count];
    }
  }

  /** The few bytes are copied to where a matrix lies ready: a new one each time is garbage. */
  private void addHalves(
      HalfCodes codes, MemorySegment bytes, long offset, RowBlock x, RowBlock out) {
    if (halves == null || halves.rows() < codes.entries() || halves.columns() != codes.lanes()) {
      halves = roomForHalves(codes);
    }
    MemorySegment.copy(bytes, offset, halves.data(), 0, codes.bytes());
    kernels.halves().weightedSums(x, halves, 0, out);
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
      RowBlock x,
      boolean exact,
      RowBlock out) {
    if (codes.lanes() % WordLayout.TILE == 0) {
      kernels.dots().addScaledDots(x, exact, codes, bytes, offset, rounded, out);
      return;
    }
    WordLayout layout = codes.layout();
    for (int group = 0; group < codes.groups(); group++) {
      long scalesAt = offset + codes.scalesOffset(group);
      long zerosAt = offset + codes.zerosOffset(group);
      kernels.dots().weighScaled(x, bytes, scalesAt, zerosAt, codes.unit(), exact, rounded);
      int first = group * codes.group();
      int count = Math.min(codes.group(), codes.lanes() - first);
      groupRows.setColumns(out, first, count);
      addDots(layout, bytes, offset, first, rounded, groupRows);
    }
  }

  private void addLaneScaled(
      LaneScaledCodes codes,
      MemorySegment bytes,
      long offset,
      RowBlock x,
      boolean exact,
      RowBlock out) {
    int rows = x.rows();
    int lanes = codes.lanes();
    KeptWeights.Kept known = kept.of(x, exact);
    Arrays.fill(sums, 0, rows * lanes, 0);
    sumRows.set(sums, rows, lanes);
    addDots(codes.layout(), bytes, offset, 0, known.weights(), sumRows);
    long scalesAt = offset + codes.scalesOffset();
    readScales(bytes, scalesAt, offset + codes.zerosOffset(), codes.span(), codes.bits(), lanes);
    for (int row = 0; row < rows; row++) {
      kernels.rows().multiply(sums, row * lanes, scales, 0, sums, row * lanes, lanes);
    }
    addSums(out);
    weightRows.set(known.sums(), rows, 1);
    kernels.floats().weightedSums(weightRows, vectorRows.set(zeros, 1, lanes), out);
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
  private void weigh(RowBlock x) {
    int entries = x.width();
    for (int row = 0; row < x.rows(); row++) {
      kernels.rows().multiply(x.values(), x.at(row), scales, 0, weights, row * entries, entries);
    }
    vectorRows.set(zeros, 1, entries);
    kernels.floats().products(x, vectorRows, constantRows.set(constants, x.rows(), 1));
  }

  /**
   * Sums of the lanes from {@code first} on. Tiles that go beyond the grid's last lane are summed
   * beside, since what lies behind them belongs to the next row.
   *
   * @param out (rows, lanes), added to
   */
  private void addDots(
      WordLayout layout,
      MemorySegment bytes,
      long offset,
      int first,
      CodeWeights by,
      RowBlock out) {
    int firstTile = first / WordLayout.TILE;
    int endTile = Math.ceilDiv(first + out.width(), WordLayout.TILE);
    int lanes = (endTile - firstTile) * WordLayout.TILE;
    if (lanes == out.width()) {
      kernels.dots().addDots(layout, bytes, offset, firstTile, endTile, by, out);
      return;
    }
    Arrays.fill(beside, 0, out.rows() * lanes, 0);
    besideRows.set(beside, out.rows(), lanes);
    kernels.dots().addDots(layout, bytes, offset, firstTile, endTile, by, besideRows);
    for (int row = 0; row < out.rows(); row++) {
      kernels.rows().add(out.values(), out.at(row), beside, row * lanes, out.width());
    }
  }
}
