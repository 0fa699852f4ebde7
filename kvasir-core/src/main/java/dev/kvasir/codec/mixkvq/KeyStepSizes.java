package dev.kvasir.codec.mixkvq;

import dev.kvasir.codec.Page;
import java.util.Arrays;

/**
 * The step size of 2-bit codes for each key channel of a layer, over one or more blocks: the range
 * divided by three.
 */
final class KeyStepSizes {
  private static final int STEPS = 3;

  private final int kvHeads;
  private final int keyDim;
  private final float[] min; // (kvHeads, keyDim)
  private final float[] max; // (kvHeads, keyDim)

  KeyStepSizes(int kvHeads, int keyDim) {
    this.kvHeads = kvHeads;
    this.keyDim = keyDim;
    this.min = new float[kvHeads * keyDim];
    this.max = new float[kvHeads * keyDim];
    Arrays.fill(min, Float.POSITIVE_INFINITY);
    Arrays.fill(max, Float.NEGATIVE_INFINITY);
  }

  /** Adds the keys of a block. // (kvHeads, tokens, keyDim) */
  void add(float[] keys) {
    int from = 0;
    for (int head = 0; head < kvHeads; head++) {
      int to = head * keyDim;
      for (int token = 0; token < Page.TOKENS; token++) {
        for (int i = 0; i < keyDim; i++) {
          float key = keys[from + i];
          min[to + i] = Math.min(min[to + i], key);
          max[to + i] = Math.max(max[to + i], key);
        }
        from += keyDim;
      }
    }
  }

  /** Returns the step sizes (kvHeads, keyDim). */
  float[] steps() {
    float[] steps = new float[min.length];
    for (int i = 0; i < steps.length; i++) {
      steps[i] = (max[i] - min[i]) / STEPS;
    }
    return steps;
  }
}
