package dev.kvasir.codec.commvq;

import dev.kvasir.kernel.Rotation;

/**
 * The order in which codebooks keep the channels of a head: of the pairs that turn together, all
 * first channels and then all second ones. Models that pair channels otherwise then share one
 * format, and loops over pairs read memory in order.
 */
public final class PairOrder {
  private final int[] channels; // (headDim), the channel at each place

  private PairOrder(int[] channels) {
    this.channels = channels;
  }

  /** The pairs that a model's rotation turns. */
  public static PairOrder of(Rotation rotation, int headDim) {
    return new PairOrder(rotation.pairOrder(headDim));
  }

  public int headDim() {
    return channels.length;
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
