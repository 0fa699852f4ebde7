package dev.kvasir.codec.commvq;

import dev.kvasir.kernel.Rotation;

/**
 * The channel order of codebooks: of the pairs that rotate together, all first channels and then
 * all second ones. Models with different pairings thus share one format, and loops over pairs read
 * memory sequentially.
 */
public final class PairOrder {
  private final Rotation rotation;
  private final int[] channels; // (headDim), the channel at each index

  private PairOrder(Rotation rotation, int[] channels) {
    this.rotation = rotation;
    this.channels = channels;
  }

  /** Returns the order for the pairs of a model's rotation. */
  public static PairOrder of(Rotation rotation, int headDim) {
    return new PairOrder(rotation, rotation.pairOrder(headDim));
  }

  /**
   * Undoes the rotation of keys at consecutive positions, and brings them into this order, in
   * place. Training and encoding both use it, because their inputs must match.
   *
   * @param keys (tokens, headDim) from {@code at} on, at most a page's tokens
   * @param position of the first token
   */
  public void unrotate(float[] keys, int at, int tokens, int position) {
    int headDim = channels.length;
    float[] paired = new float[headDim];
    rotation.rotate(keys, at, headDim, tokens, -position);
    rotation.unrotateConsecutive(keys, at, headDim, tokens);
    for (int token = at; token < at + tokens * headDim; token += headDim) {
      gather(keys, token, paired, 0);
      System.arraycopy(paired, 0, keys, token, headDim);
    }
  }

  /** Copies from the model's order to that of pairs. */
  public void gather(float[] x, int at, float[] out, int to) {
    for (int index = 0; index < channels.length; index++) {
      out[to + index] = x[at + channels[index]];
    }
  }

  /** Copies from the order of pairs to the model's. */
  public void scatter(float[] x, int at, float[] out, int to) {
    for (int index = 0; index < channels.length; index++) {
      out[to + channels[index]] = x[at + index];
    }
  }
}
