package dev.kvasir.lab.forecast;

import dev.kvasir.model.ModelConfig;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;

/**
 * Floating-point operations of a decoder on a text; a multiply-add counts as two. Norms, rotations
 * and softmax, less than one percent, are omitted. All layers count as full attention.
 */
public record DecoderFlops(ModelConfig config) {
  private double queryValues() {
    return (double) config.queryHeads() * config.headDim();
  }

  private double kvValues() {
    return (double) config.kvHeads() * config.headDim();
  }

  /** Returns the operations of a layer's query, key and value projections. */
  double projections(int tokens) {
    return 2 * tokens * config.hidden() * (queryValues() + 2 * kvValues());
  }

  /** Returns the operations of a layer's attention, with every token attending to all before it. */
  private double attention(int tokens) {
    return 2 * queryValues() * tokens * tokens;
  }

  /** Returns the operations of all products of a layer with weights. */
  private double products(int layer, int tokens) {
    double rest = queryValues() + feedForwardWeights(layer);
    return projections(tokens) + 2 * tokens * config.hidden() * rest;
  }

  /** Returns the feed-forward weights that a token uses in a layer, per hidden channel. */
  private double feedForwardWeights(int layer) {
    return config
        .experts()
        .filter(experts -> experts.hasExperts(layer))
        .map(mix -> mix.count() + 3.0 * ((double) mix.used() * mix.width() + mix.sharedWidth()))
        .orElse(3.0 * config.feedForward());
  }

  /** Returns the operations of one layer. */
  double layer(int layer, int tokens) {
    return products(layer, tokens) + attention(tokens);
  }

  /** Returns the operations of the output projection. */
  public double logits(int tokens) {
    return 2.0 * tokens * config.hidden() * config.vocabulary();
  }

  /** Returns the operations of all layers, without {@link #logits}. */
  public double forward(int tokens) {
    return overLayers(layer -> layer(layer, tokens));
  }

  /**
   * Returns the operations for gradients of keys and values. Layers are computed twice, forward and
   * again in the backward pass.
   */
  public double gradients(int tokens) {
    return 2 * forward(tokens) + logits(tokens) + backward(tokens);
  }

  /**
   * Returns the operations of the backward pass alone: as many products with weights as in the
   * forward pass, and two and a half times the operations of attention.
   */
  public double backward(int tokens) {
    double layers = overLayers(layer -> products(layer, tokens) + 2.5 * attention(tokens));
    return layers + logits(tokens);
  }

  private double overLayers(IntToDoubleFunction work) {
    return IntStream.range(0, config.layers()).mapToDouble(work).sum();
  }
}
