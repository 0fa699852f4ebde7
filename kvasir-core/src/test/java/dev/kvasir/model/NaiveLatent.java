package dev.kvasir.model;

import dev.kvasir.attention.NaiveAttention;
import java.util.HashMap;
import java.util.Map;

/**
 * Latent attention as in training: keys and values of every head are computed from the latents,
 * then attend as usual. Only what a cache stores is rounded: latents and rotary channels.
 */
final class NaiveLatent {
  private final NaiveDecoder decoder;
  private final TinyModel model;
  private final LatentConfig latent;
  private final Map<String, double[]> known = new HashMap<>();

  NaiveLatent(NaiveDecoder decoder, TinyModel model) {
    this.decoder = decoder;
    this.model = model;
    this.latent = model.latent;
  }

  double[][] attention(String at, double[][] x) {
    double[][] queries = queries(at, x);
    double[][] compressed = decoder.project(at + "kv_a_proj_with_mqa", x);
    double[][] latents = normed(part(compressed, 0, latent.rank()), at + "kv_a_layernorm.weight");
    double[][] rotated = rotated(part(compressed, latent.rank(), latent.rotary()));
    NaiveDecoder.halves(latents);
    NaiveDecoder.halves(rotated);
    int heads = model.sizes.queryHeads();
    double[][] attentionOutput = new double[x.length][heads * latent.output()];
    for (int head = 0; head < heads; head++) {
      double[][] plain = part(queries, head * latent.headDim(), latent.nonRotary());
      int rotaryAt = head * latent.headDim() + latent.nonRotary();
      double[][] q = concatenated(plain, rotated(part(queries, rotaryAt, latent.rotary())));
      double[][] k = concatenated(projected(latents, at, head, true), rotated);
      double[][] v = projected(latents, at, head, false);
      for (int t = 0; t < x.length; t++) {
        double[] out = NaiveAttention.attend(q[t], k, v, t, model.window);
        System.arraycopy(out, 0, attentionOutput[t], head * latent.output(), out.length);
      }
    }
    return decoder.project(at + "o_proj", attentionOutput);
  }

  private double[][] normed(double[][] x, String norm) {
    return decoder.normed(x, norm, latent.normEpsilon());
  }

  private double[][] queries(String at, double[][] x) {
    if (latent.queryRank() == 0) {
      return decoder.project(at + "q_proj", x);
    }
    double[][] low = decoder.project(at + "q_a_proj", x);
    return decoder.project(at + "q_b_proj", normed(low, at + "q_a_layernorm.weight"));
  }

  /** Returns a head's non-rotary keys, or its values, of every latent. */
  private double[][] projected(double[][] latents, String at, int head, boolean keys) {
    int width = keys ? latent.nonRotary() : latent.output();
    double[][] weights = weights(at, head, keys, width);
    double[][] out = new double[latents.length][width];
    for (int t = 0; t < latents.length; t++) {
      for (int i = 0; i < width; i++) {
        for (int r = 0; r < latent.rank(); r++) {
          out[t][i] += weights[i][r] * latents[t][r];
        }
      }
    }
    return out;
  }

  /** (channel, rank). */
  private double[][] weights(String at, int head, boolean keys, int width) {
    int rank = latent.rank();
    boolean together = model.tensors.containsKey(at + "kv_b_proj.weight");
    double[] stored =
        weights(at + (together ? "kv_b_proj" : keys ? "k_b_proj" : "v_b_proj") + ".weight");
    int first = keys ? 0 : latent.nonRotary();
    double[][] weights = new double[width][rank];
    for (int i = 0; i < width; i++) {
      for (int r = 0; r < rank; r++) {
        int row = together ? head * (latent.nonRotary() + latent.output()) + first : head * width;
        weights[i][r] =
            keys && !together
                ? stored[(head * rank + r) * width + i]
                : stored[(row + i) * rank + r];
      }
    }
    return weights;
  }

  private double[] weights(String name) {
    return known.computeIfAbsent(name, decoder::weights);
  }

  /** Applies interleaved RoPE. */
  private double[][] rotated(double[][] x) {
    double[][] rotated = new double[x.length][latent.rotary()];
    for (int t = 0; t < x.length; t++) {
      for (int i = 0; i < latent.rotary(); i += 2) {
        double angle = t * Math.pow(TinyModel.ROPE_BASE, -1.0 * i / latent.rotary());
        rotated[t][i] = x[t][i] * Math.cos(angle) - x[t][i + 1] * Math.sin(angle);
        rotated[t][i + 1] = x[t][i + 1] * Math.cos(angle) + x[t][i] * Math.sin(angle);
      }
    }
    return rotated;
  }

  private static double[][] part(double[][] x, int from, int count) {
    double[][] part = new double[x.length][count];
    for (int t = 0; t < x.length; t++) {
      System.arraycopy(x[t], from, part[t], 0, count);
    }
    return part;
  }

  private static double[][] concatenated(double[][] left, double[][] right) {
    double[][] both = new double[left.length][left[0].length + right[0].length];
    for (int t = 0; t < left.length; t++) {
      System.arraycopy(left[t], 0, both[t], 0, left[t].length);
      System.arraycopy(right[t], 0, both[t], left[t].length, right[t].length);
    }
    return both;
  }
}
