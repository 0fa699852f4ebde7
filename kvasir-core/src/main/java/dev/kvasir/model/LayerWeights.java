package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;
import java.util.Optional;

/**
 * Weights of one layer: {@code x += attention(norm(x))}, then {@code x += feedForward(norm(x))}. An
 * empty norm is the identity.
 *
 * @param attentionNorm norm before attention
 * @param attentionOutNorm norm of attention's output, before it is added
 * @param feedForwardNorm norm before the feed-forward layer
 * @param feedForwardOutNorm norm of the feed-forward output, before it is added
 * @param input what adds an embedding of the token to the layer's output, if anything does
 * @param outputScale factor of the layer's output, that of all layers before included
 * @param window positions that a query sees, including its own; {@link Integer#MAX_VALUE} for all
 */
public record LayerWeights(
    float[] attentionNorm, // (hidden)
    AttentionWeights attention,
    float[] attentionOutNorm, // (hidden)
    float[] feedForwardNorm, // (hidden)
    FeedForwardWeights feedForward,
    float[] feedForwardOutNorm, // (hidden)
    Optional<LayerInputWeights> input,
    float outputScale,
    int window) {
  /** Weights of a layer that ends with its feed-forward part. */
  public LayerWeights(
      float[] attentionNorm,
      AttentionWeights attention,
      float[] attentionOutNorm,
      float[] feedForwardNorm,
      FeedForwardWeights feedForward,
      float[] feedForwardOutNorm,
      int window) {
    this(
        attentionNorm,
        attention,
        attentionOutNorm,
        feedForwardNorm,
        feedForward,
        feedForwardOutNorm,
        Optional.empty(),
        1,
        window);
  }

  public static final float[] NO_NORM = {};

  /**
   * Returns the multi-head attention weights.
   *
   * @throws InvalidInputException if this layer uses latent attention
   */
  public MultiHeadWeights multiHead() {
    return switch (attention) {
      case MultiHeadWeights heads -> heads;
      case LatentWeights _ ->
          throw new InvalidInputException(
              "this layer uses latent attention; expected multi-head attention");
      case QueryWeights _ ->
          throw new InvalidInputException(
              "this layer has no keys and values; expected some of its own");
      default ->
          throw new InvalidInputException(
              "this layer has no attention; expected multi-head attention");
    };
  }

  /**
   * Returns the latent attention weights.
   *
   * @throws InvalidInputException if this layer uses multi-head attention
   */
  public LatentWeights latent() {
    return switch (attention) {
      case LatentWeights latent -> latent;
      case MultiHeadWeights _ ->
          throw new InvalidInputException(
              "this layer uses multi-head attention; expected latent attention");
      default ->
          throw new InvalidInputException("this layer has no attention; expected latent attention");
    };
  }

  /**
   * Returns the gated feed-forward weights.
   *
   * @throws InvalidInputException if this layer has experts
   */
  public GatedWeights gated() {
    return switch (feedForward) {
      case GatedWeights gated -> gated;
      case ExpertWeights _ ->
          throw new InvalidInputException(
              "this layer is a mixture of experts; expected a gated feed-forward layer");
      default ->
          throw new InvalidInputException(
              "this layer has no gates; expected a gated feed-forward layer");
    };
  }

  long bytes() {
    long norms =
        attentionNorm.length
            + attentionOutNorm.length
            + feedForwardNorm.length
            + feedForwardOutNorm.length;
    return norms * Float.BYTES
        + attention.bytes()
        + feedForward.bytes()
        + input.map(LayerInputWeights::bytes).orElse(0L);
  }
}
