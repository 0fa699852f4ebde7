package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;

/**
 * Constant factors and caps of a decoder.
 *
 * @param embedding factor of embeddings
 * @param query factor of queries, in addition to the inverse root of the head size
 * @param residual factor of what attention and feed-forward layers add
 * @param logit factor of the logits
 * @param scoreCap soft cap of attention scores; 0 for none
 * @param logitCap soft cap of logits; 0 for none
 */
public record Scales(
    float embedding, float query, float residual, float logit, float scoreCap, float logitCap) {
  public static final Scales NONE = new Scales(1, 1, 1, 1, 0, 0);

  /** Returns these scales with another query factor. */
  Scales withQuery(float factor) {
    return new Scales(embedding, factor, residual, logit, scoreCap, logitCap);
  }

  /**
   * Checks that factors are positive and caps not negative; errors name the file they came from.
   */
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
