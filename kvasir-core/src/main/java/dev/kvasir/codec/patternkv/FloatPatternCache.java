package dev.kvasir.codec.patternkv;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.OffsetAngles;
import dev.kvasir.kernel.RopeTable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * The patterns of a head as floats, cached between passes. The passes over the KV splits of a
 * sequence use the same bank; later ones have a few more patterns. Banks of forks share a prefix
 * and then diverge, so the cache records the version that added each pattern.
 */
final class FloatPatternCache {
  /** One for each byte value: patterns, and zeros for {@link PatternSet#NONE}. */
  private static final int INDICES = PatternSet.MAX_COUNT + 1;

  private final int headDim;
  private float[] patterns = {}; // (INDICES, headDim)
  private MemorySegment rows; // (INDICES, ropeTable.width()) floats; null until patterns rotate
  private float[] arranged = {}; // (patterns, ropeTable.width()), before they are copied to rows
  private final PatternSet[] versions =
      new PatternSet[PatternSet.MAX_COUNT]; // that added each pattern
  private int count;
  private int rowCount;
  private RopeTable ropeTable; // null until patterns rotate
  private int layer;
  private int kvHead;
  private int generation;

  FloatPatternCache(int headDim) {
    this.headDim = headDim;
  }

  int count() {
    return count;
  }

  /** Returns a row for each index, zeros for none: (256, headDim). */
  float[] patterns() {
    return patterns;
  }

  /** Loads the patterns of a bank. Patterns of a longer bank that extends it may remain. */
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

  /** Returns whether a version's last pattern, and hence all of its patterns, are cached. */
  private boolean contains(PatternSet version) {
    return version.count() <= count && versions[version.count() - 1] == version;
  }

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

  /** Returns how often cached patterns have been replaced. */
  int generation() {
    return generation;
  }

  /**
   * Returns a row for each index in the channel order of a table, zeros for none: (256, width)
   * floats. Rows are in native memory and aligned to cache lines if the width allows it.
   */
  MemorySegment rows(RopeTable table) {
    if (ropeTable != table) {
      // Layers may rotate differently. Their rows have one width, so the memory serves all of them.
      long bytes = (long) Float.BYTES * INDICES * table.width();
      if (rows == null || rows.byteSize() != bytes) {
        rows = Arena.ofAuto().allocate(bytes, OffsetAngles.LINE);
        arranged = new float[PatternSet.MAX_COUNT * table.width()];
      }
      ropeTable = table;
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
