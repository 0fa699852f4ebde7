package dev.kvasir.lab.smooth;

import java.io.Serializable;
import java.util.List;

/**
 * Attention errors for all smoothing strengths.
 *
 * @param errors (layers, 1 + STRENGTHS), squares, the first without smoothing
 * @param outputs (layers), squares of attention outputs
 */
record StrengthErrors(double[][] errors, double[] outputs) implements Serializable {
  /** Returns the sum over texts, added in order. */
  static StrengthErrors of(List<StrengthErrors> texts) {
    StrengthErrors first = texts.getFirst();
    double[][] errors = new double[first.errors.length][first.errors[0].length];
    double[] outputs = new double[errors.length];
    for (StrengthErrors text : texts) {
      for (int layer = 0; layer < errors.length; layer++) {
        outputs[layer] += text.outputs[layer];
        for (int i = 0; i < errors[layer].length; i++) {
          errors[layer][i] += text.errors[layer][i];
        }
      }
    }
    return new StrengthErrors(errors, outputs);
  }

  /** Returns the best strength, zero included; the weaker of a tie. */
  int best(int layer) {
    int best = 0;
    for (int i = 1; i < errors[layer].length; i++) {
      best = errors[layer][i] < errors[layer][best] ? i : best;
    }
    return best;
  }

  /** Returns the root of squared errors relative to the outputs. */
  double error(int layer, int strength) {
    return Math.sqrt(errors[layer][strength] / outputs[layer]);
  }
}
