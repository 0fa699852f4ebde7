package dev.kvasir.codec.commvq;

import dev.kvasir.kernel.Kernels;
import java.util.List;

/**
 * Encodes and decodes the keys of a layer by KV head, or its values by group of KV heads. A token
 * has one 16-bit scale for all its KV heads: {@code 16 / (kvHeads * headDim)} bits per channel.
 * Codes are chosen for normalized vectors. The scale is then the best fit for the codes rather than
 * the norm,
 *
 * <pre>scale = sum of x.c / sum of c.c,   x the vectors without means, c the sums of rows</pre>
 *
 * A scale per head would reduce the error of the bundled model by less than 1% and cost as many
 * bits again. No scale at all increases it by 3 to 4%, and could not represent vectors longer than
 * any in training. Not thread safe.
 */
public final class LayerEncoder {
  private static final float LARGEST_HALF = 65504;

  private final List<? extends Codebook> heads;
  private final BeamEncoder encoder;
  private final int channels;
  private final float[] sum; // (channels)

  /**
   * Creates an encoder.
   *
   * @param heads codebooks of one layer, with equal numbers of stages; those of values are of
   *     groups
   * @param width of the beam, see {@link BeamEncoder}
   */
  public LayerEncoder(Kernels kernels, List<? extends Codebook> heads, int width) {
    this.heads = List.copyOf(heads);
    this.encoder = new BeamEncoder(kernels, width);
    this.channels = heads.getFirst().length();
    this.sum = new float[channels];
  }

  /**
   * Encodes vectors.
   *
   * @param x (heads, tokens, channels), keys before rotation and in the order of pairs; overwritten
   * @param codes (heads, tokens, stages), set
   * @param scales (tokens) halves, set
   */
  public void encode(float[] x, int tokens, short[] codes, short[] scales) {
    encode(x, tokens, 0, tokens, codes, scales);
  }

  /**
   * Encodes the tokens from {@code from} to {@code end}. Tokens are independent, so several
   * encoders may share the tokens of a block.
   */
  void encode(float[] x, int tokens, int from, int end, short[] codes, short[] scales) {
    subtractMeans(x, tokens, from, end);
    float[] lengths = lengths(x, tokens, from, end);
    scale(x, tokens, from, lengths);
    for (int head = 0; head < heads.size(); head++) {
      int row = head * tokens + from;
      AdditiveStages stages = heads.get(head).stages();
      encoder.encode(stages, x, row * channels, end - from, codes, row * stages());
    }
    fitScales(x, tokens, from, codes, lengths, scales);
  }

  /** Decodes codes and scales to x, which has the same shape as in {@link #encode}. */
  public void decode(short[] codes, short[] scales, int tokens, float[] x) {
    for (int row = 0; row < heads.size() * tokens; row++) {
      Codebook head = heads.get(row / tokens);
      float scale = Float.float16ToFloat(scales[row % tokens]);
      head.stages().decode(codes, row * stages(), sum, 0);
      for (int i = 0; i < channels; i++) {
        x[row * channels + i] = head.mean()[i] + scale * sum[i];
      }
    }
  }

  private int stages() {
    return heads.getFirst().stages().stages();
  }

  private void subtractMeans(float[] x, int tokens, int from, int end) {
    for (int head = 0; head < heads.size(); head++) {
      float[] mean = heads.get(head).mean();
      for (int row = head * tokens + from; row < head * tokens + end; row++) {
        for (int i = 0; i < channels; i++) {
          x[row * channels + i] -= mean[i];
        }
      }
    }
  }

  /** Returns the norms of each token over all heads: (end - from). */
  private float[] lengths(float[] x, int tokens, int from, int end) {
    float[] lengths = new float[end - from];
    for (int head = 0; head < heads.size(); head++) {
      for (int token = 0; token < lengths.length; token++) {
        int at = (head * tokens + from + token) * channels;
        double square = 0;
        for (int i = at; i < at + channels; i++) {
          square += (double) x[i] * x[i];
        }
        lengths[token] += (float) square;
      }
    }
    for (int token = 0; token < lengths.length; token++) {
      lengths[token] = (float) Math.sqrt(lengths[token]);
    }
    return lengths;
  }

  private void scale(float[] x, int tokens, int from, float[] lengths) {
    for (int head = 0; head < heads.size(); head++) {
      for (int token = 0; token < lengths.length; token++) {
        int at = (head * tokens + from + token) * channels;
        float factor = lengths[token] == 0 ? 0 : 1 / lengths[token];
        for (int i = at; i < at + channels; i++) {
          x[i] *= factor;
        }
      }
    }
  }

  /** Computes the scale of each token from sums over its heads, in their order. */
  private void fitScales(
      float[] x, int tokens, int from, short[] codes, float[] lengths, short[] scales) {
    for (int token = 0; token < lengths.length; token++) {
      double product = 0;
      double square = 0;
      for (int head = 0; head < heads.size(); head++) {
        int row = head * tokens + from + token;
        heads.get(head).stages().decode(codes, row * stages(), sum, 0);
        for (int i = 0; i < channels; i++) {
          product += (double) x[row * channels + i] * sum[i];
          square += (double) sum[i] * sum[i];
        }
      }
      double fit = square == 0 ? 0 : lengths[token] * product / square;
      scales[from + token] = Float.floatToFloat16((float) Math.clamp(fit, 0, LARGEST_HALF));
    }
  }
}
