package dev.kvasir.model;

/**
 * Fixed numbers that a decoder multiplies or bounds by on its way.
 *
 * @param embedding times an embedding
 * @param query times a query, beside the root of its channels
 * @param residual times what a part of a layer adds
 * @param logit times the logits
 * @param scoreCap what scores of attention are bent to stay within; 0 for no bound
 * @param logitCap what logits are bent to stay within; 0 for no bound
 */
public record Scales(
    float embedding, float query, float residual, float logit, float scoreCap, float logitCap) {
  public static final Scales NONE = new Scales(1, 1, 1, 1, 0, 0);

  /** The same with another factor of queries. */
  Scales withQuery(float factor) {
    return new Scales(embedding, factor, residual, logit, scoreCap, logitCap);
  }
}
