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
  /** Turns of a pattern that are kept: queries are turned back by what is missing to a token's. */
  static final int FAN = 8;

  /** Places that room for fans grows by, since most banks stay far from what they may hold. */
  private static final int GROWTH = 64;

  private final int headDim;
  private float[] patterns = {}; // (count, headDim)
  private float[] fans = {}; // (1 + count, FAN, table.width()), where patterns turn
  private final Patterns[] versions = new Patterns[Patterns.MOST]; // that added each pattern
  private int count;
  private int fanCount;
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

  /**
   * (1 + count, {@link #FAN}, table.width()): zeros, then each pattern turned by 0 to {@link #FAN}
   * - 1 tokens.
   */
  float[] fans() {
    return fans;
  }

  /** The row of {@link #fans} that a token has, by its pattern's index. */
  static int fanRow(byte index, int token) {
    return (index + 1 & 0xFF) * FAN + token % FAN;
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
      fanCount = Math.min(fanCount, kept);
      changes++;
    }
  }

  /** How often patterns made room for others. */
  int changes() {
    return changes;
  }

  /** Turns what has not been turned yet. */
  void turn(Kernels kernels, TurnTable table) {
    if (order != table) {
      order = table;
      fans = new float[0];
      fanCount = 0;
    }
    growFans(FAN * table.width());
    for (; fanCount < count; fanCount++) {
      int at = (1 + fanCount) * FAN * table.width();
      table.arrange(patterns, fanCount * headDim, 1, fans, at);
      for (int i = 1; i < FAN; i++) {
        int to = at + i * table.width();
        System.arraycopy(fans, at, fans, to, table.width());
        table.turn(kernels, fans, to, 1, i);
      }
    }
  }

  private void growFans(int fanWidth) {
    int places = Math.min(Math.ceilDiv(1 + count, GROWTH) * GROWTH, 1 + Patterns.MOST);
    if (fans.length < places * fanWidth) {
      fans = Arrays.copyOf(fans, places * fanWidth);
    }
  }
}
