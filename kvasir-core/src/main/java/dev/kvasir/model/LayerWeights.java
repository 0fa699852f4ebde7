package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;

/**
 * One layer of the decoder: {@code x += attention(norm(x))}, then {@code x +=
 * feedForward(norm(x))}. A norm that is empty leaves what it is given as it is.
 *
 * @param attentionNorm of what attention is given
 * @param attentionOutNorm of what attention gives, before it is added
 * @param feedForwardNorm of what the feed-forward part is given
 * @param feedForwardOutNorm of what the feed-forward part gives, before it is added
 * @param window positions that a query of this layer sees, itself included; {@link
 *     Integer#MAX_VALUE} for all
 */
public record LayerWeights(
    float[] attentionNorm, // (hidden)
    AttentionWeights attention,
    float[] attentionOutNorm, // (hidden)
    float[] feedForwardNorm, // (hidden)
    FeedForwardWeights feedForward,
    float[] feedForwardOutNorm, // (hidden)
    int window) {
  /** Numbers stay as they are. */
  public static final float[] NO_NORM = {};

  /**
   * Attention by heads, for what is made for it.
   *
   * @throws InvalidInputException where this layer attends in another way
   */
  public MultiHeadWeights multiHead() {
    return switch (attention) {
      case MultiHeadWeights heads -> heads;
      case LatentWeights _ ->
          throw new InvalidInputException(
              "this layer attends to latent vectors; expected keys and values of heads");
    };
  }

  /**
   * Attention to latent vectors, for what is made for it.
   *
   * @throws InvalidInputException where this layer attends in another way
   */
  public LatentWeights latent() {
    return switch (attention) {
      case LatentWeights latent -> latent;
      case MultiHeadWeights _ ->
          throw new InvalidInputException(
              "this layer has keys and values of heads; expected latent vectors");
    };
  }

  /**
   * A feed-forward part of one gate, for what is made for it.
   *
   * @throws InvalidInputException where this layer has another
   */
  public GatedWeights gated() {
    return switch (feedForward) {
      case GatedWeights gated -> gated;
      case ExpertWeights _ ->
          throw new InvalidInputException(
              "this layer is a mixture of experts; expected a feed-forward part of one gate");
    };
  }

  long bytes() {
    long norms =
        attentionNorm.length
            + attentionOutNorm.length
            + feedForwardNorm.length
            + feedForwardOutNorm.length;
    return norms * Float.BYTES + attention.bytes() + feedForward.bytes();
  }
}
