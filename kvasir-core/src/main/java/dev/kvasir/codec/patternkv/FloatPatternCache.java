package dev.kvasir.codec.patternkv;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.OffsetAngles;
import dev.kvasir.kernel.RopeTable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * The patterns of a head as floats. They are kept from walk to walk: the walks over the spans of a
 * sequence meet the same bank, of which later ones have a few patterns more. Banks of forks begin
 * alike and part somewhere, so which version of a bank each pattern belongs to is kept beside it.
 */
final class FloatPatternCache {
  /** One for each value of a byte: patterns, and zeros for {@link PatternSet#NO_ROW}. */
  private static final int INDICES = PatternSet.MAX_COUNT + 1;

  private final int headDim;
  private float[] patterns = {}; // (INDICES, headDim)
  private MemorySegment rows; // (INDICES, order.width()) floats; null until patterns turn
  private float[] arranged = {}; // (patterns, order.width()) on their way there
  private final PatternSet[] versions =
      new PatternSet[PatternSet.MAX_COUNT]; // that added each pattern
  private int count;
  private int rowCount;
  private RopeTable ropeTable; // null until patterns turn
  private int layer;
  private int kvHead;
  private int generation;

  FloatPatternCache(int headDim) {
    this.headDim = headDim;
  }

  int count() {
    return count;
  }

  /** A row for each index, zeros for none: (256, headDim). */
  float[] patterns() {
    return patterns;
  }

  /** Makes the patterns of a bank ready; those of a longer one that grew from it may stay. */
  void load(Kernels kernels, PatternSet bank, int bankLayer, int bankHead) {
    if (layer != bankLayer || kvHead != bankHead) {
      layer = bankLayer;
      kvHead = bankHead;
      truncate(0);
    }
    if (contains(bank)) {
      return;
    }
    if (patterns.length == 0) {
      patterns = new float[INDICES * headDim];
    }
    truncate(cachedCount(bank));
    for (PatternSet added = bank;
        added != null && added.count() > count;
        added = added.previous()) {
      Arrays.fill(versions, added.firstAdded(), added.count(), added);
    }
    bank.expand(kernels, layer, kvHead, count, patterns);
    count = bank.count();
  }

  /** Whether its last pattern is here; all before it are then, as a version holds those before. */
  private boolean contains(PatternSet version) {
    return version.count() <= count && versions[version.count() - 1] == version;
  }

  /** How many patterns of a bank are here. */
  private int cachedCount(PatternSet bank) {
    PatternSet version = bank;
    while (version != null && !contains(version)) {
      version = version.previous();
    }
    return version == null ? 0 : version.count();
  }

  private void truncate(int retained) {
    if (retained < count) {
      count = retained;
      rowCount = Math.min(rowCount, retained);
      generation++;
    }
  }

  /** How often patterns made room for others. */
  int generation() {
    return generation;
  }

  /**
   * A row for each index in the order of a table, zeros for none: (256, width) floats. Outside the
   * heap, where rows begin with lines of the cache, as long as their width allows it.
   */
  MemorySegment rows(RopeTable table) {
    if (ropeTable != table) {
      ropeTable = table;
      long bytes = (long) Float.BYTES * INDICES * table.width();
      rows = Arena.ofAuto().allocate(bytes, OffsetAngles.LINE);
      arranged = new float[PatternSet.MAX_COUNT * table.width()];
      rowCount = 0;
    }
    if (rowCount < count) {
      int added = count - rowCount;
      table.toPairOrder(patterns, rowCount * headDim, added, arranged, 0);
      long to = (long) Float.BYTES * rowCount * table.width();
      MemorySegment.copy(arranged, 0, rows, ValueLayout.JAVA_FLOAT, to, added * table.width());
      rowCount = count;
    }
    return rows;
  }
}
