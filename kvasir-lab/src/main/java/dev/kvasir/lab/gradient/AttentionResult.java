package dev.kvasir.lab.gradient;

/**
 * The attention output of a layer. Derived quantities are computed on request.
 *
 * @param vectors the queries, keys and values
 * @param outputs output of each query head, the weighted sums of values, (tokens, queryHeads,
 *     headDim)
 * @param update what attention adds to the residual stream, after the output projection, (tokens,
 *     hidden)
 */
public record AttentionResult(
    LayerVectors vectors,
    TextAttention attention,
    ScoreRules rules,
    float[] outputs,
    float[] update) {
  public int layer() {
    return vectors.layer();
  }

  /**
   * Returns the attention that each token receives from itself and from queries less than {@code
   * near} positions later. It is summed over these queries and over the query heads that share a KV
   * head, and is at most {@code near} times their number.
   *
   * @return (tokens, kvHeads)
   */
  public float[] attentionMass(int near) {
    return attention.attentionMass(vectors, rules, near);
  }
}
