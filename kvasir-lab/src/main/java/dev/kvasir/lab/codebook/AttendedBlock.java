package dev.kvasir.lab.codebook;

/**
 * Values of consecutive tokens, all heads of a token together, with the effect of their errors on
 * attention outputs. With attention weights {@code p}, the error of an output is {@code sum of p_t
 * e_t}, and the squares of all outputs are {@code e^T S e} with {@code S = sum of p p^T} over the
 * queries.
 *
 * @param x (tokens, width), centered and scaled to norm one
 * @param attentionMoments S of each head, times the norms that were divided out // (kvHeads,
 *     tokens, tokens)
 */
record AttendedBlock(int tokens, int width, float[] x, double[] attentionMoments) {
  /**
   * Relative squared errors.
   *
   * @param valueError error of the values
   * @param outputError error of the attention outputs
   */
  record Distortion(double valueError, double outputError) {}

  private int heads() {
    return attentionMoments.length / (tokens * tokens);
  }

  /**
   * @param decoded (tokens, width)
   */
  Distortion distortion(double[] decoded) {
    double[] errors = errors(decoded);
    double[] own = new double[x.length];
    for (int i = 0; i < own.length; i++) {
      own[i] = x[i];
    }
    return new Distortion(
        product(errors, errors) / product(own, own),
        product(errors, applyMoments(errors)) / product(own, applyMoments(own)));
  }

  /** Returns the gradient of the sum of both errors. // (tokens, width) */
  double[] gradient(double[] decoded) {
    double[] errors = errors(decoded);
    double[] own = new double[x.length];
    for (int i = 0; i < own.length; i++) {
      own[i] = x[i];
    }
    double values = 2 * tokens / product(own, own);
    double outputs = 2 * tokens / product(own, applyMoments(own));
    double[] gradient = applyMoments(errors);
    for (int i = 0; i < gradient.length; i++) {
      gradient[i] = values * errors[i] + outputs * gradient[i];
    }
    return gradient;
  }

  private double[] errors(double[] decoded) {
    double[] errors = new double[x.length];
    for (int i = 0; i < errors.length; i++) {
      errors[i] = decoded[i] - x[i];
    }
    return errors;
  }

  /** Returns {@code S e} of each head. */
  private double[] applyMoments(double[] e) {
    double[] out = new double[e.length];
    int dim = width / heads();
    for (int head = 0; head < heads(); head++) {
      for (int t = 0; t < tokens; t++) {
        for (int u = 0; u < tokens; u++) {
          double weight = attentionMoments[(head * tokens + t) * tokens + u];
          for (int i = head * dim; i < (head + 1) * dim; i++) {
            out[t * width + i] += weight * e[u * width + i];
          }
        }
      }
    }
    return out;
  }

  private static double product(double[] a, double[] b) {
    double sum = 0;
    for (int i = 0; i < a.length; i++) {
      sum += a[i] * b[i];
    }
    return sum;
  }
}
