package dev.kvasir.lab.mead;

/**
 * Sums keys, values and attention outputs over texts, by layer. Only the ids of table rows have
 * sums of their own, so memory does not grow with the vocabulary.
 */
final class TokenSums {
  private final TokenKvLayout layout;
  private final TableRows rows;
  private final float[][] sums; // by layer: (ids of rows, width)
  private final double[][] totals; // by layer: (width), over all ids
  private final double[][] updates; // by layer: (hidden)
  private long tokens;

  TokenSums(TokenKvLayout layout, int layers, TableRows rows, int hidden) {
    this.layout = layout;
    this.rows = rows;
    this.sums = new float[layers][rows.ids().length * layout.width()];
    this.totals = new double[layers][layout.width()];
    this.updates = new double[layers][hidden];
  }

  TableRows rows() {
    return rows;
  }

  long tokens() {
    return tokens;
  }

  /** Returns the sums of a layer. // (ids of rows, width) */
  float[] sums(int layer) {
    return sums[layer];
  }

  /** Returns the mean over all tokens. // (width) */
  float[] mean(int layer) {
    return divided(totals[layer]);
  }

  /** Returns the mean attention output of a token. // (layers, hidden) */
  float[][] meanUpdates() {
    float[][] means = new float[updates.length][];
    for (int layer = 0; layer < means.length; layer++) {
      means[layer] = divided(updates[layer]);
    }
    return means;
  }

  private float[] divided(double[] sum) {
    float[] mean = new float[sum.length];
    for (int i = 0; i < mean.length; i++) {
      mean[i] = (float) (sum[i] / tokens);
    }
    return mean;
  }

  void add(TextStatistics text) {
    tokens += text.tokens();
    for (int layer = 0; layer < sums.length; layer++) {
      addRows(text.ids(), text.sums()[layer], sums[layer]);
      add(text.totals()[layer], totals[layer]);
      add(text.updates()[layer], updates[layer]);
    }
  }

  private void addRows(int[] ids, float[] from, float[] to) {
    int width = layout.width();
    for (int i = 0; i < ids.length; i++) {
      int row = rows.rowOf(ids[i]);
      if (row < rows.ids().length) {
        for (int k = 0; k < width; k++) {
          to[row * width + k] += from[i * width + k];
        }
      }
    }
  }

  private static void add(double[] from, double[] to) {
    for (int i = 0; i < to.length; i++) {
      to[i] += from[i];
    }
  }
}
