package dev.kvasir.lab.gradient;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.model.GatedWeights;
import dev.kvasir.model.HeadNorm;
import dev.kvasir.model.LayerWeights;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.MultiHeadWeights;
import dev.kvasir.model.Projection;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;

/**
 * One decoder layer over all tokens of a text. It retains the activations of the last computed
 * layer for the backward pass.
 */
final class LayerPass {
  private final ModelConfig config;
  private final Rotation rotation;
  private final WeightProducts products;
  private final Kernels kernels;
  private final WorkerPool workers;
  private final int tokens;
  private final TextAttention attention;

  private final float[] normed; // (tokens, hidden)
  private final float[] unnormedQueries; // (tokens, queryHeads, headDim)
  private final float[] unnormedKeys; // (tokens, kvHeads, headDim)
  private final float[] queries; // (tokens, queryHeads, headDim)
  private final float[] keys; // (tokens, kvHeads, headDim)
  private final float[] values; // (tokens, kvHeads, headDim)
  private final float[] attentionOutput; // (tokens, queryHeads, headDim)
  private final float[] afterAttention; // (tokens, hidden), after attention
  private final float[] gate; // (tokens, feedForward)
  private final float[] up; // (tokens, feedForward)
  private final float[] activated; // (tokens, feedForward)

  private int index;
  private LayerWeights layer;
  private MultiHeadWeights headWeights;
  private GatedWeights gated;
  private float[] x; // (tokens, hidden), input of the layer

  LayerPass(
      ModelConfig config,
      Rotation rotation,
      WeightProducts products,
      Kernels kernels,
      WorkerPool workers,
      int tokens) {
    this.config = config;
    this.rotation = rotation;
    this.products = products;
    this.kernels = kernels;
    this.workers = workers;
    this.tokens = tokens;
    this.attention = new TextAttention(config.attentionShape(), tokens, kernels, workers);
    int queryValues = tokens * config.queryHeads() * config.headDim();
    int kvValues = tokens * config.kvHeads() * config.headDim();
    normed = new float[tokens * config.hidden()];
    unnormedQueries = new float[queryValues];
    unnormedKeys = new float[kvValues];
    queries = new float[queryValues];
    keys = new float[kvValues];
    values = new float[kvValues];
    attentionOutput = new float[queryValues];
    afterAttention = new float[tokens * config.hidden()];
    gate = new float[tokens * config.feedForward()];
    up = new float[tokens * config.feedForward()];
    activated = new float[tokens * config.feedForward()];
  }

  /**
   * Computes queries, keys and values of the layer. The input must not change until the backward
   * pass.
   */
  LayerVectors project(int layerIndex, LayerWeights weights, float[] input) {
    index = layerIndex;
    layer = weights;
    headWeights = weights.multiHead();
    gated = weights.gated();
    x = input;
    normalize(x, layer.attentionNorm());
    multiply(normed, headWeights.query(), unnormedQueries);
    multiply(normed, headWeights.key(), unnormedKeys);
    multiply(normed, headWeights.value(), values);
    normalizeAndRotate(unnormedQueries, headWeights.queryNorm(), config.queryHeads(), queries);
    normalizeAndRotate(unnormedKeys, headWeights.keyNorm(), config.kvHeads(), keys);
    return vectors();
  }

  private LayerVectors vectors() {
    return new LayerVectors(index, tokens, queries, keys, values);
  }

  /** Computes attention of the projected layer. */
  AttentionResult attend() {
    attention.forward(vectors(), layer.window(), attentionOutput);
    multiply(attentionOutput, headWeights.output(), afterAttention);
    return new AttentionResult(
        vectors(), attention, layer.window(), attentionOutput, afterAttention);
  }

  /**
   * Replaces the attention output of every token.
   *
   * @param update (hidden)
   */
  void overrideAttention(float[] update) {
    int hidden = config.hidden();
    for (int token = 0; token < tokens; token++) {
      System.arraycopy(update, 0, afterAttention, token * hidden, hidden);
    }
  }

  /** Computes the rest of the layer after attention. */
  float[] finish() {
    computeGates();
    int length = config.feedForward();
    workers.run(
        (token, worker) -> {
          int at = token * length;
          System.arraycopy(gate, at, activated, at, length);
          kernels.rows().gatedSilu(activated, up, at, length);
        },
        tokens);
    float[] out = new float[x.length];
    multiply(activated, gated.down(), out);
    addRows(out, afterAttention);
    return out;
  }

  /** Computes the part of the feed-forward network that the backward pass needs. */
  void computeGates() {
    addRows(afterAttention, x);
    normalize(afterAttention, layer.feedForwardNorm());
    multiply(normed, gated.gate(), gate);
    multiply(normed, gated.up(), up);
  }

  private void normalize(float[] from, float[] weight) {
    int hidden = config.hidden();
    workers.run(
        (token, worker) ->
            kernels
                .rows()
                .rmsNorm(
                    from,
                    token * hidden,
                    weight,
                    config.normEpsilon(),
                    normed,
                    token * hidden,
                    hidden),
        tokens);
  }

  private void multiply(float[] from, Projection projection, float[] to) {
    products.forward(from, tokens, projection.matrix(), to);
    float[] bias = projection.bias();
    int stride = projection.matrix().rows();
    workers.run(
        (token, worker) -> kernels.rows().add(to, token * stride, bias, 0, bias.length), tokens);
  }

  private void addRows(float[] to, float[] from) {
    int width = to.length / tokens;
    workers.run(
        (token, worker) -> kernels.rows().add(to, token * width, from, token * width, width),
        tokens);
  }

  private void normalizeAndRotate(float[] from, HeadNorm norm, int heads, float[] to) {
    int headDim = config.headDim();
    System.arraycopy(from, 0, to, 0, from.length);
    workers.run(
        (token, worker) -> {
          int at = token * heads * headDim;
          norm.apply(kernels, to, at, heads, headDim);
          rotation.rotate(to, at, headDim, heads, token);
        },
        tokens);
  }

  /**
   * Propagates gradients from the output of the layer back to its queries, keys and values.
   *
   * @param dx gradients of the output (tokens, hidden), changed into those of the residual stream
   *     at attention
   * @param dQueries (tokens, queryHeads, headDim), set
   * @param farDistance distance from which a query is far, if requested; the same for every call
   */
  LayerGradients backwardToVectors(float[] dx, float[] dQueries, OptionalInt farDistance) {
    backwardThroughFeedForward(dx);
    float[] dAttentionOutput = new float[attentionOutput.length];
    products.addBackward(dx, tokens, headWeights.output().matrix(), dAttentionOutput);
    List<RangeGradients> byRange =
        ranges(farDistance).map(range -> RangeGradients.zero(range, keys.length)).toList();
    attention.backward(
        vectors(), layer.window(), attentionOutput, dAttentionOutput, dQueries, byRange);
    float[] dKeys = byRange.getFirst().keys();
    float[] dValues = byRange.getFirst().values();
    if (farDistance.isEmpty()) {
      return new LayerGradients(index, tokens, keys, values, dKeys, dValues, Optional.empty());
    }
    RangeGradients far = byRange.getLast();
    addRows(dKeys, far.keys());
    addRows(dValues, far.values());
    LongRangeGradients longRange =
        new LongRangeGradients(farDistance.getAsInt(), far.keys(), far.values());
    return new LayerGradients(index, tokens, keys, values, dKeys, dValues, Optional.of(longRange));
  }

  private static Stream<DistanceRange> ranges(OptionalInt farDistance) {
    return farDistance.isEmpty()
        ? Stream.of(DistanceRange.ALL)
        : Stream.of(
            DistanceRange.below(farDistance.getAsInt()),
            DistanceRange.atLeast(farDistance.getAsInt()));
  }

  private void backwardThroughFeedForward(float[] dx) {
    float[] dGate = new float[gate.length]; // of the product at first
    products.addBackward(dx, tokens, gated.down().matrix(), dGate);
    float[] dUp = new float[up.length];
    int length = config.feedForward();
    workers.run((token, worker) -> backwardThroughGate(token * length, length, dGate, dUp), tokens);
    float[] dNormed = new float[normed.length];
    products.addBackward(dGate, tokens, gated.gate().matrix(), dNormed);
    products.addBackward(dUp, tokens, gated.up().matrix(), dNormed);
    addBackwardOfNorm(afterAttention, layer.feedForwardNorm(), dNormed, dx);
  }

  /** Differentiates {@code silu(g) * u}, where silu(g) = g * s(g) and s' = s * (1 - s). */
  private void backwardThroughGate(int at, int length, float[] dGate, float[] dUp) {
    for (int i = at; i < at + length; i++) {
      float g = gate[i];
      float s = (float) (1 / (1 + Math.exp(-g)));
      dUp[i] = dGate[i] * g * s;
      dGate[i] *= up[i] * s * (1 + g * (1 - s));
    }
  }

  private void addBackwardOfNorm(float[] from, float[] weight, float[] dNormed, float[] dx) {
    int hidden = config.hidden();
    workers.run(
        (token, worker) -> {
          int at = token * hidden;
          RmsNorms.addBackward(from, at, weight, config.normEpsilon(), dNormed, at, dx, at);
        },
        tokens);
  }

  /**
   * Propagates gradients from queries, keys and values back to the input of the layer.
   *
   * @param gradients from {@link #backwardToVectors}; consumed
   * @param dx result of that method, changed into gradients of the input
   */
  void backwardToInput(LayerGradients gradients, float[] dQueries, float[] dx) {
    float[] dKeys = gradients.keyGradients();
    backwardThroughHeads(dQueries, unnormedQueries, headWeights.queryNorm(), config.queryHeads());
    backwardThroughHeads(dKeys, unnormedKeys, headWeights.keyNorm(), config.kvHeads());
    float[] dNormed = new float[normed.length];
    products.addBackward(dQueries, tokens, headWeights.query().matrix(), dNormed);
    products.addBackward(dKeys, tokens, headWeights.key().matrix(), dNormed);
    products.addBackward(gradients.valueGradients(), tokens, headWeights.value().matrix(), dNormed);
    addBackwardOfNorm(x, layer.attentionNorm(), dNormed, dx);
  }

  /** Applies the inverse rotation and the backward pass of the norm, in place. */
  private void backwardThroughHeads(float[] dHeads, float[] unnormed, HeadNorm norm, int heads) {
    int headDim = config.headDim();
    workers.run(
        (token, worker) -> {
          int at = token * heads * headDim;
          rotation.rotate(dHeads, at, headDim, heads, -token);
          if (norm instanceof HeadNorm.RootMeanSquare(float[] weight, float epsilon)) {
            float[] dy = Arrays.copyOfRange(dHeads, at, at + heads * headDim);
            Arrays.fill(dHeads, at, at + heads * headDim, 0);
            for (int i = 0; i < dy.length; i += headDim) {
              RmsNorms.addBackward(unnormed, at + i, weight, epsilon, dy, i, dHeads, at + i);
            }
          }
        },
        tokens);
  }
}
