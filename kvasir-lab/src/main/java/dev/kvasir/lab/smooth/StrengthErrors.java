package dev.kvasir.lab.smooth;

import java.io.Serializable;
import java.util.List;

/**
 * What attention loses with factors of all strengths.
 *
 * @param errors (layers, 1 + STRENGTHS), squares, the first without smoothing
 * @param outputs (layers), squares of what attention gives
 */
record StrengthErrors(double[][] errors, double[] outputs) implements Serializable {
  /** Of all texts, added in their order. */
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

  /** The best of the strengths above zero; the weaker of two that do alike. */
  int best(int layer) {
    int best = 1;
    for (int i = 2; i < errors[layer].length; i++) {
      best = errors[layer][i] < errors[layer][best] ? i : best;
    }
    return best;
  }

  /** Root of squares, relative to what attention gives. */
  double error(int layer, int strength) {
    return Math.sqrt(errors[layer][strength] / outputs[layer]);
  }
}
