package dev.kvasir.lab.gradient;

/** A layer that has attended. What is computed here is computed when it is asked for. */
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

  /** What it attended with. */
  public LayerVectors vectors() {
    return vectors;
  }

  /** What each query head found: weighted sums of values. // (tokens, queryHeads, headDim) */
  public float[] outputs() {
    return outputs;
  }

  /**
   * What the tokens' residual stream gets from attention, after the output projection. // (tokens,
   * hidden)
   */
  public float[] update() {
    return update;
  }

  /** The mean of {@link #update} over the tokens. // (hidden) */
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
   * The attention that each token gets from itself and from the queries less than {@code near}
   * positions later, summed over them and over the query heads that share a KV head: at most {@code
   * near} times as much as there are such heads.
   *
   * @return (tokens, kvHeads)
   */
  public float[] attentionMass(int near) {
    return attention.attentionMass(vectors, window, near);
  }
}
