package dev.kvasir.model;

import dev.kvasir.attention.NaiveAttention;

/**
 * A decoder as the papers define it: a whole sequence at once, in double precision, without
 * optimization. It copies only deliberate rounding: caches round keys and values to halves, and
 * activations are rounded to 127 steps a side for quantized weights.
 */
final class NaiveDecoder {
  private final TinyModel model;
  private final TinyModel.Sizes sizes;

  NaiveDecoder(TinyModel model) {
    this.model = model;
    this.sizes = model.sizes;
  }

  /** Returns the logits after each token. */
  double[][] logits(int... tokens) {
    double[][] x = new double[tokens.length][];
    double[] embedding = weights("model.embed_tokens.weight");
    for (int t = 0; t < tokens.length; t++) {
      x[t] = new double[sizes.hidden()];
      System.arraycopy(embedding, tokens[t] * sizes.hidden(), x[t], 0, sizes.hidden());
    }
    for (int layer = 0; layer < sizes.layers(); layer++) {
      String at = "model.layers.%d.".formatted(layer);
      double[][] attended = attention(at, normed(x, at + "input_layernorm.weight"));
      addTo(x, attended);
      addTo(x, feedForward(at + "mlp.", normed(x, at + "post_attention_layernorm.weight")));
    }
    String output = sizes.tied() ? "model.embed_tokens" : "lm_head";
    return project(output, normed(x, "model.norm.weight"));
  }

  private double[][] attention(String at, double[][] x) {
    if (model.latent != null) {
      return new NaiveLatent(this, model).attention(at + "self_attn.", x);
    }
    double[][] queries = project(at + "self_attn.q_proj", x);
    double[][] keys = project(at + "self_attn.k_proj", x);
    double[][] values = project(at + "self_attn.v_proj", x);
    double[][] attentionOutput = new double[x.length][sizes.queryHeads() * sizes.valueDim()];
    for (int head = 0; head < sizes.queryHeads(); head++) {
      int kvHead = head / (sizes.queryHeads() / sizes.kvHeads());
      double[][] q = rotated(head(queries, head, sizes.keyDim(), at + "self_attn.q_norm.weight"));
      double[][] k =
          halves(rotated(head(keys, kvHead, sizes.keyDim(), at + "self_attn.k_norm.weight")));
      double[][] v = halves(head(values, kvHead, sizes.valueDim(), "none"));
      for (int t = 0; t < x.length; t++) {
        double[] out = NaiveAttention.attend(q[t], k, v, t, model.window);
        System.arraycopy(out, 0, attentionOutput[t], head * sizes.valueDim(), out.length);
      }
    }
    return project(at + "self_attn.o_proj", attentionOutput);
  }

  private double[][] feedForward(String at, double[][] x) {
    return model.hasExperts() ? new NaiveExperts(model).combined(at, x, this) : gated(at, x);
  }

  double[][] gated(String at, double[][] x) {
    double[][] gate = project(at + "gate_proj", x);
    double[][] up = project(at + "up_proj", x);
    for (int t = 0; t < x.length; t++) {
      for (int i = 0; i < gate[t].length; i++) {
        gate[t][i] = gate[t][i] / (1 + Math.exp(-gate[t][i])) * up[t][i];
      }
    }
    return project(at + "down_proj", gate);
  }

  /** Returns one head of every token, normalized if the model has a norm of that name. */
  private double[][] head(double[][] all, int head, int width, String norm) {
    double[][] found = new double[all.length][width];
    for (int t = 0; t < all.length; t++) {
      System.arraycopy(all[t], head * width, found[t], 0, width);
    }
    return model.tensors.containsKey(norm) ? normed(found, norm) : found;
  }

  private double[][] rotated(double[][] head) {
    double[] frequencies = model.frequencies();
    int half = frequencies.length;
    double[][] rotated = new double[head.length][2 * half];
    for (int t = 0; t < head.length; t++) {
      for (int i = 0; i < half; i++) {
        double cos = Math.cos(t * frequencies[i]);
        double sin = Math.sin(t * frequencies[i]);
        rotated[t][i] = head[t][i] * cos - head[t][i + half] * sin;
        rotated[t][i + half] = head[t][i + half] * cos + head[t][i] * sin;
      }
    }
    return rotated;
  }

  static double[][] halves(double[][] x) {
    for (double[] row : x) {
      for (int i = 0; i < row.length; i++) {
        row[i] = Float.float16ToFloat(Float.floatToFloat16((float) row[i]));
      }
    }
    return x;
  }

  double[][] normed(double[][] x, String name) {
    return normed(x, name, TinyModel.EPSILON);
  }

  double[][] normed(double[][] x, String name, double epsilon) {
    double[] weight = weights(name);
    double[][] out = new double[x.length][weight.length];
    for (int t = 0; t < x.length; t++) {
      double squares = 0;
      for (double value : x[t]) {
        squares += value * value;
      }
      double rms = Math.sqrt(squares / weight.length + epsilon);
      for (int i = 0; i < weight.length; i++) {
        out[t][i] = x[t][i] / rms * weight[i];
      }
    }
    return out;
  }

  /** Projects every row and adds the bias, if there is one. */
  double[][] project(String name, double[][] x) {
    double[] matrix = weights(name + ".weight");
    double[][] rounded = model.tensors.get(name + ".weight").type().isFloat() ? x : quantized(x);
    int columns = x[0].length;
    int rows = matrix.length / columns;
    double[] bias =
        model.tensors.containsKey(name + ".bias") ? weights(name + ".bias") : new double[rows];
    double[][] out = new double[x.length][rows];
    for (int t = 0; t < x.length; t++) {
      for (int row = 0; row < rows; row++) {
        double sum = bias[row];
        for (int i = 0; i < columns; i++) {
          sum += matrix[row * columns + i] * rounded[t][i];
        }
        out[t][row] = sum;
      }
    }
    return out;
  }

  private static double[][] quantized(double[][] x) {
    double[][] quantized = new double[x.length][x[0].length];
    for (int t = 0; t < x.length; t++) {
      for (int start = 0; start < x[t].length; start += 32) {
        double largest = Double.MIN_NORMAL; // zeros stay zeros
        for (int i = start; i < start + 32; i++) {
          largest = Math.max(largest, Math.abs(x[t][i]));
        }
        for (int i = start; i < start + 32; i++) {
          quantized[t][i] = Math.rint(x[t][i] * 127 / largest) * largest / 127;
        }
      }
    }
    return quantized;
  }

  double[] weights(String name) {
    float[] floats = model.floats(name);
    double[] weights = new double[floats.length];
    for (int i = 0; i < weights.length; i++) {
      weights[i] = floats[i];
    }
    return weights;
  }

  private static void addTo(double[][] x, double[][] y) {
    for (int t = 0; t < x.length; t++) {
      for (int i = 0; i < x[t].length; i++) {
        x[t][i] += y[t][i];
      }
    }
  }
}
