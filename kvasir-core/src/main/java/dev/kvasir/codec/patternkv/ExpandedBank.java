package dev.kvasir.codec.patternkv;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.TurnTable;
import java.util.Arrays;

/**
 * The patterns of a head as floats. They are kept from walk to walk: the walks over the spans of a
 * sequence meet the same bank, of which later ones have a few patterns more. Banks of forks begin
 * alike and part somewhere, so which version of a bank each pattern belongs to is kept beside it.
 */
final class ExpandedBank {
  /** Places that room for rows grows by, since most banks stay far from what they may hold. */
  private static final int GROWTH = 64;

  private final int headDim;
  private float[] patterns = {}; // (count, headDim)
  private float[] rows = {}; // (1 + count, table.width()), where patterns turn
  private final Patterns[] versions = new Patterns[Patterns.MOST]; // that added each pattern
  private int count;
  private int rowCount;
  private TurnTable order; // null until patterns turn
  private int layer;
  private int kvHead;
  private int changes;

  ExpandedBank(int headDim) {
    this.headDim = headDim;
  }

  int count() {
    return count;
  }

  /** (count, headDim). */
  float[] patterns() {
    return patterns;
  }

  /** Zeros, then each pattern in the order of {@link #arrange}'s table: (1 + count, width). */
  float[] rows() {
    return rows;
  }

  /** The row of {@link #rows} that a token has, by its pattern's index. */
  static int row(byte index) {
    return index + 1 & 0xFF;
  }

  /** Makes the patterns of a bank ready; those of a longer one that grew from it may stay. */
  void show(Kernels kernels, Patterns bank, int bankLayer, int bankHead) {
    if (layer != bankLayer || kvHead != bankHead) {
      layer = bankLayer;
      kvHead = bankHead;
      forgetFrom(0);
    }
    if (holds(bank)) {
      return;
    }
    if (patterns.length == 0) {
      patterns = new float[Patterns.MOST * headDim];
    }
    forgetFrom(heldOf(bank));
    for (Patterns added = bank; added != null && added.count() > count; added = added.before()) {
      Arrays.fill(versions, added.firstAdded(), added.count(), added);
    }
    bank.expand(kernels, layer, kvHead, count, patterns);
    count = bank.count();
  }

  /** Whether its last pattern is here; all before it are then, as a version holds those before. */
  private boolean holds(Patterns version) {
    return version.count() <= count && versions[version.count() - 1] == version;
  }

  /** How many patterns of a bank are here. */
  private int heldOf(Patterns bank) {
    Patterns version = bank;
    while (version != null && !holds(version)) {
      version = version.before();
    }
    return version == null ? 0 : version.count();
  }

  private void forgetFrom(int kept) {
    if (kept < count) {
      count = kept;
      rowCount = Math.min(rowCount, kept);
      changes++;
    }
  }

  /** How often patterns made room for others. */
  int changes() {
    return changes;
  }

  /** Brings what has not been arranged yet into the order of a table. */
  void arrange(TurnTable table) {
    if (order != table) {
      order = table;
      rows = new float[0];
      rowCount = 0;
    }
    growRows(table.width());
    if (rowCount < count) {
      int to = (1 + rowCount) * table.width();
      table.arrange(patterns, rowCount * headDim, count - rowCount, rows, to);
      rowCount = count;
    }
  }

  private void growRows(int width) {
    int places = Math.min(Math.ceilDiv(1 + count, GROWTH) * GROWTH, 1 + Patterns.MOST);
    if (rows.length < places * width) {
      rows = Arrays.copyOf(rows, places * width);
    }
  }
}
