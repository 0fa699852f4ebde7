package dev.kvasir.lab.mead;

import dev.kvasir.codec.LayerRotations;
import dev.kvasir.lab.gradient.TracedDecoder;
import dev.kvasir.model.ModelConfig;
import java.util.Arrays;

/**
 * The layout of a token's keys, before rotation and in pair order, and values of all heads: {@code
 * K0 K1 .. V0 V1 ..}.
 */
final class TokenKvLayout {
  private final TracedDecoder decoder;
  private final int kvHeads;
  private final int keyDim;
  private final int valueDim;
  private final int[][] orders; // of a key's channels, by layer

  TokenKvLayout(TracedDecoder decoder) {
    ModelConfig config = decoder.config();
    this.decoder = decoder;
    this.kvHeads = config.kvHeads();
    this.keyDim = config.keyDim();
    this.valueDim = config.valueDim();
    LayerRotations rotations = config.rotations().orElseThrow();
    this.orders = new int[config.layers()][];
    Arrays.setAll(orders, layer -> rotations.of(layer).pairOrder(keyDim));
  }

  /** Returns the number of elements of a token. */
  int width() {
    return kvHeads * (keyDim + valueDim);
  }

  /** Returns the offset of a head's key. */
  int keyAt(int head) {
    return head * keyDim;
  }

  /** Returns the offset of a head's value. */
  int valueAt(int head) {
    return kvHeads * keyDim + head * valueDim;
  }

  /**
   * @param keys after rotation (tokens, kvHeads, keyDim), or gradients of them
   * @param values (tokens, kvHeads, valueDim)
   * @return (tokens, width)
   */
  float[] joined(int layer, float[] keys, float[] values) {
    float[] before = decoder.beforeRotation(layer, keys);
    int[] order = orders[layer];
    int tokens = keys.length / (kvHeads * keyDim);
    float[] joined = new float[tokens * width()];
    for (int token = 0; token < tokens; token++) {
      for (int head = 0; head < kvHeads; head++) {
        int from = (token * kvHeads + head) * keyDim;
        int to = token * width() + keyAt(head);
        for (int i = 0; i < keyDim; i++) {
          joined[to + i] = before[from + order[i]];
        }
      }
      int ofValues = kvHeads * valueDim;
      System.arraycopy(
          values, token * ofValues, joined, token * width() + kvHeads * keyDim, ofValues);
    }
    return joined;
  }
}
