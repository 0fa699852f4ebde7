package dev.kvasir.codec.patternkv;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.TurnTable;
import java.util.Arrays;

/**
 * The patterns of a head as floats. They are kept from walk to walk: the walks over the spans of a
 * sequence meet the same bank, of which later ones have a few patterns more.
 */
final class ExpandedBank {
  /** Turns of a pattern that are kept: queries are turned back by what is missing to a token's. */
  static final int FAN = 8;

  /** Places that room for fans grows by, since most banks stay far from what they may hold. */
  private static final int GROWTH = 64;

  private final int headDim;
  private float[] patterns = {}; // (count, headDim)
  private float[] fans = {}; // (1 + count, FAN, table.width()), where patterns turn
  private int count;
  private int fanCount;
  private Patterns shown; // null until there are any
  private TurnTable order; // null until patterns turn
  private int layer;
  private int kvHead;
  private int changes;
  private boolean known; // whether the walk at hand is about what is shown

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

  /** A walk begins, over another sequence, layer or head perhaps. */
  void begin() {
    known = false;
  }

  /** Makes the patterns of a bank ready; banks only grow along a walk. */
  void show(Kernels kernels, Patterns bank, int bankLayer, int bankHead) {
    if (!known && !isShown(bank, bankLayer, bankHead)) {
      count = 0;
      fanCount = 0;
      layer = bankLayer;
      kvHead = bankHead;
      shown = bank;
      changes++;
    }
    known = true;
    if (patterns.length == 0) {
      patterns = new float[Patterns.MOST * headDim];
    }
    if (count < bank.count()) {
      bank.expand(kernels, layer, kvHead, count, patterns);
      count = bank.count();
      shown = bank;
    }
  }

  private boolean isShown(Patterns bank, int bankLayer, int bankHead) {
    return shown != null && layer == bankLayer && kvHead == bankHead && shown.sharesLineWith(bank);
  }

  /** How often patterns of something else took the place of those before. */
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
