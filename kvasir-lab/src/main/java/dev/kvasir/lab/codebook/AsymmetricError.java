package dev.kvasir.lab.codebook;

import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.LayerRotations;
import dev.kvasir.codec.commvq.PairOrder;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.lab.codebook.VectorSample.Side;

/**
 * The error of asymmetric uniform quantization as in KIVI: keys per channel after rotation, in
 * groups of 32 tokens; values per token, in groups of 32 channels. A code of b bits takes b + 1
 * with the scale and zero point of its group.
 */
public final class AsymmetricError {
  private static final int GROUP = 32;
  private static final int PAGE = KvCache.TOKENS_PER_PAGE;

  private final VectorSample sample;
  private final int length;
  private final LayerRotations rotations;
  private final int headDim;

  /**
   * @param length tokens after which positions of the sample restart
   */
  public AsymmetricError(VectorSample sample, int length, LayerRotations rotations) {
    this.sample = sample;
    this.length = length;
    this.rotations = rotations;
    this.headDim = sample.shape().headDim();
  }

  /** Returns the squared error relative to the squared norm of the vectors. */
  public double of(Side side, int layer, int bits) {
    double error = 0;
    double energy = 0;
    for (int head = 0; head < sample.shape().kvHeads(); head++) {
      float[] x = sample.vectors(side, layer, head);
      float[] vectors = side == Side.KEYS ? rotated(layer, x) : x;
      error += side == Side.KEYS ? byChannel(vectors, bits) : byToken(vectors, bits);
      for (float value : x) {
        energy += (double) value * value;
      }
    }
    return error / energy;
  }

  /** Returns keys in the model's channel order, rotated to their positions. */
  private float[] rotated(int layer, float[] x) {
    Rotation rotation = rotations.of(layer);
    PairOrder order = PairOrder.of(rotation, headDim);
    float[] out = new float[x.length];
    for (int at = 0; at < x.length; at += headDim) {
      order.scatter(x, at, out, at);
    }
    for (int from = 0; from < sample.count(); ) {
      int position = from % length;
      int count = Math.min(Math.min(PAGE, length - position), sample.count() - from);
      rotation.rotate(out, from * headDim, headDim, count, position);
      rotation.rotateConsecutive(out, from * headDim, headDim, count);
      from += count;
    }
    return out;
  }

  private double byChannel(float[] x, int bits) {
    double error = 0;
    for (int from = 0; from < sample.count(); from += GROUP) {
      int count = Math.min(GROUP, sample.count() - from);
      for (int channel = 0; channel < headDim; channel++) {
        error += ofGroup(x, from * headDim + channel, headDim, count, bits);
      }
    }
    return error;
  }

  private double byToken(float[] x, int bits) {
    double error = 0;
    for (int at = 0; at < x.length; at += headDim) {
      for (int channel = 0; channel < headDim; channel += GROUP) {
        error += ofGroup(x, at + channel, 1, Math.min(GROUP, headDim - channel), bits);
      }
    }
    return error;
  }

  private static double ofGroup(float[] x, int at, int stride, int count, int bits) {
    float least = Float.POSITIVE_INFINITY;
    float most = Float.NEGATIVE_INFINITY;
    for (int i = 0; i < count; i++) {
      least = Math.min(least, x[at + i * stride]);
      most = Math.max(most, x[at + i * stride]);
    }
    double step = ((double) most - least) / ((1 << bits) - 1);
    double error = 0;
    for (int i = 0; i < count && step > 0; i++) {
      double offset = x[at + i * stride] - least;
      double left = offset - Math.rint(offset / step) * step;
      error += left * left;
    }
    return error;
  }
}
