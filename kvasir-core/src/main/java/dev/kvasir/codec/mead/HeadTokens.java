package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.kernel.NibbleRows;

/** The tokens of a page for one head, on the way to their codes. */
final class HeadTokens {
  private static final int TOKENS = Page.TOKENS;

  final float[] keys; // (TOKENS, keyWidth), before rotation
  final float[] components; // of values (TOKENS, valueWidth)
  final int[] keyPicks = new int[TOKENS]; // rows of the table
  final int[] valuePicks = new int[TOKENS];
  final byte[] order = new byte[TOKENS]; // tokens by rows of codes, class after class
  final double[] shares = new double[TOKENS]; // in the mean error of components; 1 in all
  final float[] means; // (valueWidth), what components are wrong by already
  private final float[] base;

  HeadTokens(MeadSizes sizes) {
    this.keys = new float[TOKENS * sizes.keyWidth()];
    this.components = new float[TOKENS * sizes.valueWidth()];
    this.means = new float[sizes.valueWidth()];
    this.base = new float[Math.max(sizes.keyWidth(), sizes.valueWidth())];
  }

  float[] vectors(Side side) {
    return side == Side.KEYS ? keys : components;
  }

  int[] picks(Side side) {
    return side == Side.KEYS ? keyPicks : valuePicks;
  }

  /** Leaves what is to be coded. */
  void takeRowsOff(HeadTables head) {
    for (Side side : Side.values()) {
      takeRowsOff(head.base(side), picks(side), vectors(side));
    }
  }

  private void takeRowsOff(NibbleRows table, int[] picks, float[] x) {
    int width = table.width();
    for (int token = 0; token < TOKENS; token++) {
      table.expand(picks[token], base, 0);
      for (int i = 0; i < width; i++) {
        x[token * width + i] -= base[i];
      }
    }
  }
}
