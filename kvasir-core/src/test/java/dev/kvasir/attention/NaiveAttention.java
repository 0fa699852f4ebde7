package dev.kvasir.attention;

/** Attention by its definition, one query head at a time, in double precision. */
public final class NaiveAttention {
  private NaiveAttention() {}

  /**
   * @param keys (position, keyDim), those of the query's KV head
   * @param values (position, valueDim)
   * @param position position of the query; it sees {@code window} positions up to itself
   */
  public static double[] attend(
      double[] query, double[][] keys, double[][] values, int position, int window) {
    return attend(query, keys, values, position, window, 0);
  }

  /**
   * @param cap soft cap of scores; 0 for none
   */
  public static double[] attend(
      double[] query, double[][] keys, double[][] values, int position, int window, double cap) {
    int first = (int) Math.max(0, position - (long) window + 1);
    double[] weights = new double[position + 1];
    double most = Double.NEGATIVE_INFINITY;
    for (int t = first; t <= position; t++) {
      double dot = 0;
      for (int i = 0; i < query.length; i++) {
        dot += query[i] * keys[t][i];
      }
      double score = dot / Math.sqrt(query.length);
      weights[t] = cap > 0 ? cap * Math.tanh(score / cap) : score;
      most = Math.max(most, weights[t]);
    }
    double sum = 0;
    for (int t = first; t <= position; t++) {
      weights[t] = Math.exp(weights[t] - most);
      sum += weights[t];
    }
    double[] output = new double[values[0].length];
    for (int t = first; t <= position; t++) {
      for (int i = 0; i < output.length; i++) {
        output[i] += weights[t] / sum * values[t][i];
      }
    }
    return output;
  }
}
