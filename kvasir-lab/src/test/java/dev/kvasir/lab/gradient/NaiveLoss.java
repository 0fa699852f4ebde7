package dev.kvasir.lab.gradient;

import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.Matrix;
import dev.kvasir.model.HeadNorm;
import dev.kvasir.model.LayerWeights;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.Projection;
import dev.kvasir.model.RopeLayout;
import dev.kvasir.model.Weights;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * A direct double-precision computation of the loss with one element of a layer's keys or values
 * perturbed; the reference for gradients.
 */
final class NaiveLoss {
  /**
   * @param index into (tokens, kvHeads, headDim)
   * @param near minimum distance in positions of queries that see the perturbation
   */
  record Nudge(int layer, boolean ofKeys, int index, double by, int near) {
    static final Nudge NONE = new Nudge(-1, true, 0, 0);

    Nudge(int layer, boolean ofKeys, int index, double by) {
      this(layer, ofKeys, index, by, 0);
    }
  }

  private final ModelConfig config;
  private final Weights weights;
  private final double positionScale;
  private final Map<Matrix, double[]> expanded = new IdentityHashMap<>();

  NaiveLoss(TinyDecoder decoder, double positionScale) {
    this.config = decoder.config();
    this.weights = decoder.weights();
    this.positionScale = positionScale;
  }

  /** Returns the mean cross-entropy of all next tokens. */
  double of(int[] tokens, Nudge nudge) {
    double[][] logits = logits(tokens, nudge);
    double loss = 0;
    for (int t = 0; t + 1 < tokens.length; t++) {
      loss += logSum(logits[t]) - logits[t][tokens[t + 1]];
    }
    return loss / (tokens.length - 1);
  }

  static double logSum(double[] logits) {
    return Math.log(Arrays.stream(logits).map(Math::exp).sum());
  }

  /** Returns the logits. // (tokens, vocabulary) */
  double[][] logits(int[] tokens, Nudge nudge) {
    double[][] x = new double[tokens.length][config.hidden()];
    for (int t = 0; t < tokens.length; t++) {
      for (int i = 0; i < config.hidden(); i++) {
        x[t][i] = ((DenseMatrix) weights.embedding()).value(tokens[t], i);
      }
    }
    for (int layer = 0; layer < config.layers(); layer++) {
      LayerWeights w = weights.layers().get(layer);
      add(x, attention(w, normed(x, w.attentionNorm(), config.normEpsilon()), layer, nudge));
      add(x, feedForward(w, normed(x, w.feedForwardNorm(), config.normEpsilon())));
    }
    double[][] normed = normed(x, weights.outputNorm(), config.normEpsilon());
    return project(weights.output(), new float[0], normed);
  }

  private double[][] attention(LayerWeights w, double[][] x, int layer, Nudge nudge) {
    double[][] queries =
        rotated(heads(project(w.multiHead().query(), x), w.multiHead().queryNorm()));
    double[][] keys = rotated(heads(project(w.multiHead().key(), x), w.multiHead().keyNorm()));
    double[][] values = project(w.multiHead().value(), x);
    int nudged = nudge.layer == layer ? nudge.index / values[0].length : x.length;
    double[][] seen = nudge.ofKeys ? keys : values;
    double[][] mixed = new double[x.length][queries[0].length];
    for (int t = 0; t < x.length; t++) {
      if (t == nudged + nudge.near) { // seen by this query and all later ones
        seen[nudged][nudge.index % seen[0].length] += nudge.by;
      }
      int first = Math.max(0, t - w.window() + 1);
      for (int head = 0; head < config.queryHeads(); head++) {
        int from = head * config.headDim();
        int kvFrom = head / (config.queryHeads() / config.kvHeads()) * config.headDim();
        double[] scores = new double[t + 1];
        double sum = 0;
        for (int s = first; s <= t; s++) {
          double dot = 0;
          for (int i = 0; i < config.headDim(); i++) {
            dot += queries[t][from + i] * keys[s][kvFrom + i];
          }
          scores[s] = Math.exp(dot / Math.sqrt(config.headDim()));
          sum += scores[s];
        }
        for (int s = first; s <= t; s++) {
          for (int i = 0; i < config.headDim(); i++) {
            mixed[t][from + i] += scores[s] / sum * values[s][kvFrom + i];
          }
        }
      }
    }
    return project(w.multiHead().output(), mixed);
  }

  private double[][] feedForward(LayerWeights w, double[][] x) {
    double[][] gate = project(w.gated().gate(), x);
    double[][] up = project(w.gated().up(), x);
    for (int t = 0; t < x.length; t++) {
      for (int i = 0; i < gate[t].length; i++) {
        gate[t][i] = gate[t][i] / (1 + Math.exp(-gate[t][i])) * up[t][i];
      }
    }
    return project(w.gated().down(), gate);
  }

  private double[][] heads(double[][] x, HeadNorm norm) {
    if (!(norm instanceof HeadNorm.RootMeanSquare(float[] weight, float epsilon))) {
      return x;
    }
    double[][] out = new double[x.length][x[0].length];
    for (int t = 0; t < x.length; t++) {
      for (int at = 0; at < x[t].length; at += weight.length) {
        double[][] head = {Arrays.copyOfRange(x[t], at, at + weight.length)};
        System.arraycopy(normed(head, weight, epsilon)[0], 0, out[t], at, weight.length);
      }
    }
    return out;
  }

  private double[][] rotated(double[][] x) {
    int pairs = config.rope().dimensions() / 2;
    float[] frequencies =
        config.rope().frequencies().of(config.rope().base(), config.rope().dimensions());
    boolean halves = config.rope().layout() == RopeLayout.HALVES;
    for (int t = 0; t < x.length; t++) {
      for (int at = 0; at < x[t].length; at += config.headDim()) {
        for (int i = 0; i < pairs; i++) {
          int first = at + (halves ? i : 2 * i);
          int second = halves ? first + pairs : first + 1;
          double angle = t * positionScale * frequencies[i];
          double a = x[t][first];
          double b = x[t][second];
          x[t][first] = a * Math.cos(angle) - b * Math.sin(angle);
          x[t][second] = b * Math.cos(angle) + a * Math.sin(angle);
        }
      }
    }
    return x;
  }

  private static double[][] normed(double[][] x, float[] weight, double epsilon) {
    double[][] out = new double[x.length][weight.length];
    for (int t = 0; t < x.length; t++) {
      double squares = 0;
      for (double value : x[t]) {
        squares += value * value;
      }
      for (int i = 0; i < weight.length; i++) {
        out[t][i] = x[t][i] / Math.sqrt(squares / weight.length + epsilon) * weight[i];
      }
    }
    return out;
  }

  private double[][] project(Projection projection, double[][] x) {
    return project(projection.matrix(), projection.bias(), x);
  }

  private double[][] project(Matrix matrix, float[] bias, double[][] x) {
    double[] values = expanded.computeIfAbsent(matrix, NaiveLoss::expand);
    double[][] out = new double[x.length][matrix.rows()];
    for (int t = 0; t < x.length; t++) {
      for (int row = 0; row < matrix.rows(); row++) {
        double sum = bias.length == 0 ? 0 : bias[row];
        for (int i = 0; i < matrix.columns(); i++) {
          sum += values[row * matrix.columns() + i] * x[t][i];
        }
        out[t][row] = sum;
      }
    }
    return out;
  }

  private static double[] expand(Matrix matrix) {
    double[] values = new double[matrix.rows() * matrix.columns()];
    for (int i = 0; i < values.length; i++) {
      values[i] = ((DenseMatrix) matrix).value(i / matrix.columns(), i % matrix.columns());
    }
    return values;
  }

  private static void add(double[][] x, double[][] y) {
    for (int t = 0; t < x.length; t++) {
      for (int i = 0; i < x[t].length; i++) {
        x[t][i] += y[t][i];
      }
    }
  }
}
