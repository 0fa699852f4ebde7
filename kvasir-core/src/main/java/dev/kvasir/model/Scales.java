package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;

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

  /** Refuses what would leave nothing, or nothing finite, naming the file it came from. */
  void check(String fileName) {
    checkFactor(fileName, "embeddings are", embedding);
    checkFactor(fileName, "queries are", query);
    checkFactor(fileName, "what layers add is", residual);
    checkFactor(fileName, "logits are", logit);
    checkCap(fileName, "scores", scoreCap);
    checkCap(fileName, "logits", logitCap);
  }

  private static void checkFactor(String fileName, String what, float factor) {
    if (!(factor > 0) || Float.isInfinite(factor)) {
      throw new InvalidInputException(
          "%s: %s multiplied by %s; expected a finite number above 0"
              .formatted(fileName, what, factor));
    }
  }

  private static void checkCap(String fileName, String what, float cap) {
    if (!(cap >= 0) || Float.isInfinite(cap)) {
      throw new InvalidInputException(
          "%s: the cap of %s is %s; expected 0 for none or a finite number above it"
              .formatted(fileName, what, cap));
    }
  }
}
