package dev.kvasir.codec.pmkvq;

import dev.kvasir.error.InvalidInputException;

/**
 * What keys of a layer are divided by before they are packed, so that no channel rules the range of
 * a token. Queries are multiplied by the same, which leaves scores as they are.
 *
 * @param factors (kvHeads, headDim)
 */
public record Smoothing(int headDim, float[] factors) {
  /** Half of the largest half: a range of numbers up to here fits one. */
  private static final float MOST = 32752;

  /** The factors of a layer, from those of all layers. */
  public static Smoothing of(String source, float[] all, int layer, int kvHeads, int headDim) {
    int count = kvHeads * headDim;
    float[] factors = java.util.Arrays.copyOfRange(all, layer * count, (layer + 1) * count);
    for (float factor : factors) {
      if (!(factor > 0 && factor < Float.POSITIVE_INFINITY)) {
        throw new InvalidInputException(
            "%s: a smoothing factor of layer %d is %s; expected numbers above 0"
                .formatted(source, layer, factor));
      }
    }
    return new Smoothing(headDim, factors);
  }

  /**
   * Divides keys, of all heads. Where a factor is far too small for a key, the key is cut off.
   *
   * @param keys (kvHeads, tokens, headDim)
   */
  void divide(float[] keys, int tokens) {
    for (int head = 0; head < factors.length / headDim; head++) {
      for (int i = 0; i < tokens * headDim; i++) {
        int at = head * tokens * headDim + i;
        keys[at] = Math.clamp(keys[at] / factors[head * headDim + i % headDim], -MOST, MOST);
      }
    }
  }

  /** Multiplies rows of a head: packed keys to turn them back, or queries to meet them. */
  public void multiply(int kvHead, float[] x, int rows) {
    for (int row = 0; row < rows; row++) {
      for (int channel = 0; channel < headDim; channel++) {
        x[row * headDim + channel] *= factors[kvHead * headDim + channel];
      }
    }
  }
}
