package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.kernel.NibbleRows;

/** Scratch arrays for quantizing the tokens of a page for one head. */
final class HeadEncodingScratch {
  private static final int TOKENS = Page.TOKENS;

  final float[] keys; // (TOKENS, keyWidth), before RoPE
  final float[] components; // value components (TOKENS, valueWidth)
  final int[] keyTableRows = new int[TOKENS]; // row of the table, by token
  final int[] valueTableRows = new int[TOKENS];
  final byte[] order = new byte[TOKENS]; // token of each code row, tier after tier
  final double[] shares = new double[TOKENS]; // weight in the mean error of components; sums to 1
  final float[] means; // (valueWidth), mean error that components already have
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

  /** Subtracts the predictions, which leaves the residuals to quantize. */
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
