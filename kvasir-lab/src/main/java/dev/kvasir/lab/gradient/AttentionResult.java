package dev.kvasir.lab.gradient;

/** The attention output of a layer. Derived quantities are computed on request. */
public final class AttentionResult {
  private final LayerVectors vectors;
  private final TextAttention attention;
  private final int window;
  private final float[] outputs;
  private final float[] update;

  AttentionResult(
      LayerVectors vectors, TextAttention attention, int window, float[] outputs, float[] update) {
    this.vectors = vectors;
    this.attention = attention;
    this.window = window;
    this.outputs = outputs;
    this.update = update;
  }

  public int layer() {
    return vectors.layer();
  }

  public int tokens() {
    return vectors.tokens();
  }

  /** Returns the queries, keys and values. */
  public LayerVectors vectors() {
    return vectors;
  }

  /**
   * Returns the output of each query head, the weighted sums of values. // (tokens, queryHeads,
   * headDim)
   */
  public float[] outputs() {
    return outputs;
  }

  /**
   * Returns what attention adds to the residual stream, after the output projection. // (tokens,
   * hidden)
   */
  public float[] update() {
    return update;
  }

  /** Returns the mean of {@link #update} over the tokens. // (hidden) */
  public float[] meanUpdate() {
    int hidden = update.length / tokens();
    double[] sums = new double[hidden];
    for (int i = 0; i < update.length; i++) {
      sums[i % hidden] += update[i];
    }
    float[] mean = new float[hidden];
    for (int i = 0; i < hidden; i++) {
      mean[i] = (float) (sums[i] / tokens());
    }
    return mean;
  }

  /**
   * Returns the attention that each token receives from itself and from queries less than {@code
   * near} positions later. It is summed over these queries and over the query heads that share a KV
   * head, and is at most {@code near} times their number.
   *
   * @return (tokens, kvHeads)
   */
  public float[] attentionMass(int near) {
    return attention.attentionMass(vectors, window, near);
  }
}
