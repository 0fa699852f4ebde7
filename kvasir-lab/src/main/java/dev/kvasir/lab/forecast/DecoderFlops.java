package dev.kvasir.lab.forecast;

import dev.kvasir.model.ModelConfig;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;

/**
 * Floating-point operations of a decoder on a text, a multiplication and its addition being two.
 * What is left out (norms, rotations, softmax) is less than a hundredth. Layers count as if all of
 * them saw the whole text.
 */
public record DecoderFlops(ModelConfig config) {
  private double queryValues() {
    return (double) config.queryHeads() * config.headDim();
  }

  private double kvValues() {
    return (double) config.kvHeads() * config.headDim();
  }

  /** Products of queries, keys and values of a layer with their weights. */
  double projections(int tokens) {
    return 2 * tokens * config.hidden() * (queryValues() + 2 * kvValues());
  }

  /** Scores and sums of a layer, every token attending to all before it. */
  private double attention(int tokens) {
    return 2 * queryValues() * tokens * tokens;
  }

  /** All products of a layer with weights. */
  private double products(int layer, int tokens) {
    double rest = queryValues() + feedForwardWeights(layer);
    return projections(tokens) + 2 * tokens * config.hidden() * rest;
  }

  /** Weights of a layer behind attention that a token meets, for each hidden channel. */
  private double feedForwardWeights(int layer) {
    return config
        .experts()
        .filter(experts -> experts.hasExperts(layer))
        .map(mix -> mix.count() + 3.0 * ((double) mix.used() * mix.width() + mix.sharedWidth()))
        .orElse(3.0 * config.feedForward());
  }

  /** One layer. */
  double layer(int layer, int tokens) {
    return products(layer, tokens) + attention(tokens);
  }

  /** Products with the output weights, once. */
  double logits(int tokens) {
    return 2.0 * tokens * config.hidden() * config.vocabulary();
  }

  /** All layers; {@link #logits} come on top where they are wanted. */
  public double forward(int tokens) {
    return overLayers(layer -> layer(layer, tokens));
  }

  /**
   * From a text to gradients of its keys and values. Layers are computed once on the way there and
   * once more on the way back, which has as many products with weights again, and of attention
   * scores, and gradients of weights, queries, keys and values: two and a half times as many.
   */
  public double gradients(int tokens) {
    double back = overLayers(layer -> products(layer, tokens) + 2.5 * attention(tokens));
    return 2 * forward(tokens) + back + 2 * logits(tokens);
  }

  private double overLayers(IntToDoubleFunction work) {
    return IntStream.range(0, config.layers()).mapToDouble(work).sum();
  }
}
