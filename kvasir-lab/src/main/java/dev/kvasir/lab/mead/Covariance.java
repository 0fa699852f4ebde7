package dev.kvasir.lab.mead;

import java.util.List;

/**
 * The covariance of a head's keys and values around their table rows.
 *
 * @param keys (keyDim), variances
 * @param values (valueDim, valueDim)
 */
record Covariance(double[] keys, double[] values) {
  /**
   * @param rows table rows (rows, width of {@link TokenKvLayout})
   * @param assignment which row is subtracted from a token
   */
  static Covariance of(
      List<TextActivations> texts,
      int layer,
      int head,
      TokenKvLayout layout,
      float[] rows,
      RowAssignment assignment,
      int keyDim,
      int valueDim) {
    double[] keys = new double[keyDim];
    double[] values = new double[valueDim * valueDim];
    float[] key = new float[keyDim];
    float[] value = new float[valueDim];
    long count = 0;
    for (TextActivations text : texts) {
      for (int token = 0; token < text.tokens().length; token++) {
        if (text.ranks(layer).rankOf(head, token) == PageRanks.NONE) {
          continue;
        }
        text.read(layer, token, layout.keyAt(head), keyDim, key, 0);
        text.read(layer, token, layout.valueAt(head), valueDim, value, 0);
        int keyRow = assignment.ofKey(text, token) * layout.width() + layout.keyAt(head);
        int valueRow = assignment.ofValue(text, token) * layout.width() + layout.valueAt(head);
        for (int i = 0; i < keyDim; i++) {
          double away = key[i] - rows[keyRow + i];
          keys[i] += away * away;
        }
        for (int i = 0; i < valueDim; i++) {
          value[i] -= rows[valueRow + i];
        }
        for (int i = 0; i < valueDim; i++) {
          for (int j = 0; j <= i; j++) {
            values[i * valueDim + j] += (double) value[i] * value[j];
          }
        }
        count++;
      }
    }
    for (int i = 0; i < keyDim; i++) {
      keys[i] /= count;
    }
    for (int i = 0; i < valueDim; i++) {
      for (int j = 0; j <= i; j++) {
        values[i * valueDim + j] /= count;
        values[j * valueDim + i] = values[i * valueDim + j];
      }
    }
    return new Covariance(keys, values);
  }

  /** Returns the mean of two covariances. */
  static Covariance mean(Covariance a, Covariance b) {
    return new Covariance(mean(a.keys, b.keys), mean(a.values, b.values));
  }

  private static double[] mean(double[] a, double[] b) {
    double[] mean = new double[a.length];
    for (int i = 0; i < a.length; i++) {
      mean[i] = (a[i] + b[i]) / 2;
    }
    return mean;
  }
}
