package dev.kvasir.codec.commvq;

import dev.kvasir.kernel.Rotation;

/**
 * The order in which codebooks keep the channels of a head: of the pairs that turn together, all
 * first channels and then all second ones. Models that pair channels otherwise then share one
 * format, and loops over pairs read memory in order.
 */
public final class PairOrder {
  private final Rotation rotation;
  private final int[] channels; // (headDim), the channel at each place

  private PairOrder(Rotation rotation, int[] channels) {
    this.rotation = rotation;
    this.channels = channels;
  }

  /** The pairs that a model's rotation turns. */
  public static PairOrder of(Rotation rotation, int headDim) {
    return new PairOrder(rotation, rotation.pairOrder(headDim));
  }

  /**
   * Turns keys of consecutive positions back to what they were before rotation, and brings them
   * into this order, in place: what codebooks are trained on and what caches code must be the same.
   *
   * @param keys (tokens, headDim) from {@code at} on, a page's tokens at the most
   * @param position of the first of them
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

  /** From the model's order to that of pairs. */
  public void gather(float[] x, int at, float[] out, int to) {
    for (int place = 0; place < channels.length; place++) {
      out[to + place] = x[at + channels[place]];
    }
  }

  /** From the order of pairs back to the model's. */
  public void scatter(float[] x, int at, float[] out, int to) {
    for (int place = 0; place < channels.length; place++) {
      out[to + channels[place]] = x[at + place];
    }
  }
}
