package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.kernel.NibbleRows;

/** The tokens of a page for one head, on the way to their codes. */
final class HeadEncodingScratch {
  private static final int TOKENS = Page.TOKENS;

  final float[] keys; // (TOKENS, keyWidth), before rotation
  final float[] components; // of values (TOKENS, valueWidth)
  final int[] keyTableRows = new int[TOKENS]; // rows of the table
  final int[] valueTableRows = new int[TOKENS];
  final byte[] order = new byte[TOKENS]; // tokens by rows of codes, class after class
  final double[] shares = new double[TOKENS]; // in the mean error of components; 1 in all
  final float[] means; // (valueWidth), what components are wrong by already
  private final float[] base;

  HeadEncodingScratch(MeadSizes sizes) {
    this.keys = new float[TOKENS * sizes.keyWidth()];
    this.components = new float[TOKENS * sizes.valueWidth()];
    this.means = new float[sizes.valueWidth()];
    this.base = new float[Math.max(sizes.keyWidth(), sizes.valueWidth())];
  }

  float[] vectors(KvSide side) {
    return side == KvSide.KEYS ? keys : components;
  }

  int[] tableRows(KvSide side) {
    return side == KvSide.KEYS ? keyTableRows : valueTableRows;
  }

  /** Leaves what is to be coded. */
  void subtractTableRows(HeadTables head) {
    for (KvSide side : KvSide.values()) {
      subtractTableRows(head.base(side), tableRows(side), vectors(side));
    }
  }

  private void subtractTableRows(NibbleRows table, int[] tableRows, float[] x) {
    int width = table.width();
    for (int token = 0; token < TOKENS; token++) {
      table.dequantize(tableRows[token], base, 0);
      for (int i = 0; i < width; i++) {
        x[token * width + i] -= base[i];
      }
    }
  }
}
