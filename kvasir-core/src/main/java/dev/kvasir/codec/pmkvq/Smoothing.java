package dev.kvasir.codec.pmkvq;

import dev.kvasir.error.InvalidInputException;

/**
 * What keys of a layer are divided by before they are packed, so that no channel rules the range of
 * a token. Queries are multiplied by the same, which leaves scores as they are.
 *
 * @param factors (kvHeads, keyDim)
 */
public record Smoothing(int keyDim, float[] factors) {
  /** Half of the largest half: a range of numbers up to here fits one. */
  private static final float MOST = 32752;

  /** The factors of a layer, from those of all layers. */
  public static Smoothing of(String source, float[] all, int layer, int kvHeads, int keyDim) {
    int count = kvHeads * keyDim;
    float[] factors = java.util.Arrays.copyOfRange(all, layer * count, (layer + 1) * count);
    for (float factor : factors) {
      if (!(factor > 0 && factor < Float.POSITIVE_INFINITY)) {
        throw new InvalidInputException(
            "%s: a smoothing factor of layer %d is %s; expected numbers above 0"
                .formatted(source, layer, factor));
      }
    }
    return new Smoothing(keyDim, factors);
  }

  /**
   * Divides keys, of all heads. Where a factor is far too small for a key, the key is cut off.
   *
   * @param keys (kvHeads, tokens, keyDim)
   */
  void divide(float[] keys, int tokens) {
    for (int head = 0; head < factors.length / keyDim; head++) {
      for (int i = 0; i < tokens * keyDim; i++) {
        int at = head * tokens * keyDim + i;
        keys[at] = Math.clamp(keys[at] / factors[head * keyDim + i % keyDim], -MOST, MOST);
      }
    }
  }

  /** Multiplies rows of a head: packed keys to turn them back, or queries to meet them. */
  public void multiply(int kvHead, float[] x, int rows) {
    for (int row = 0; row < rows; row++) {
      for (int channel = 0; channel < keyDim; channel++) {
        x[row * keyDim + channel] *= factors[kvHead * keyDim + channel];
      }
    }
  }
}
