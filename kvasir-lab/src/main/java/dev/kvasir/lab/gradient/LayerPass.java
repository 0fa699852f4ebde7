package dev.kvasir.lab.gradient;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.model.DenseAndExpertWeights;
import dev.kvasir.model.ExpertWeights;
import dev.kvasir.model.GatedWeights;
import dev.kvasir.model.HeadNorm;
import dev.kvasir.model.LayerWeights;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.MultiHeadWeights;
import dev.kvasir.model.NoFeedForward;
import dev.kvasir.model.UngatedWeights;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;

/**
 * One decoder layer over all tokens of a text, as the engine's layers are: {@code x += r
 * outNorm(attention(norm(x)))}, then the same with the feed-forward part. It retains the
 * activations of the last computed layer for the backward pass.
 */
final class LayerPass {
  private final ModelConfig config;
  private final TracedRopes ropes;
  private final RowProducts rows;
  private final Kernels kernels;
  private final WorkerPool workers;
  private final int tokens;
  private final TextAttention attention;
  private final GatedFeedForward gated;
  private final ExpertFeedForward experts; // null if no layer has experts

  private final float[] normed; // (tokens, hidden)
  private final float[] unnormedQueries; // (tokens, queryHeads, headDim)
  private final float[] unnormedKeys; // (tokens, kvHeads, headDim)
  private final float[] queries; // (tokens, queryHeads, headDim)
  private final float[] keys; // (tokens, kvHeads, headDim)
  private final float[] values; // (tokens, kvHeads, headDim)
  private final float[] attentionOutput; // (tokens, queryHeads, headDim)
  private final float[] projected; // (tokens, hidden), attention before its output norm
  private final float[] update; // (tokens, hidden), what attention adds
  private final float[] afterAttention; // (tokens, hidden), the residual stream
  private float[] computed = {}; // (tokens, hidden), feed-forward before its output norm

  private int index;
  private LayerWeights layer;
  private MultiHeadWeights headWeights;
  private ScoreRules rules;
  private FeedForward feedForward;
  private float[] x; // (tokens, hidden), input of the layer

  LayerPass(ModelConfig config, TracedRopes ropes, RowProducts rows, int tokens) {
    this.config = config;
    this.ropes = ropes;
    this.rows = rows;
    this.kernels = rows.kernels();
    this.workers = rows.workers();
    this.tokens = tokens;
    this.attention = new TextAttention(config.attentionShape(), tokens, kernels, workers);
    this.gated = new GatedFeedForward(rows, tokens, maxGatedWidth(config));
    this.experts =
        config
            .experts()
            .map(sizes -> new ExpertFeedForward(rows, sizes, tokens, config.hidden(), gated))
            .orElse(null);
    int queryValues = tokens * config.queryHeads() * config.headDim();
    int kvValues = tokens * config.kvHeads() * config.headDim();
    normed = new float[tokens * config.hidden()];
    unnormedQueries = new float[queryValues];
    unnormedKeys = new float[kvValues];
    queries = new float[queryValues];
    keys = new float[kvValues];
    values = new float[kvValues];
    attentionOutput = new float[queryValues];
    projected = new float[tokens * config.hidden()];
    update = new float[tokens * config.hidden()];
    afterAttention = new float[tokens * config.hidden()];
  }

  /** Returns the largest width of a dense feed-forward layer or shared expert. */
  static int maxGatedWidth(ModelConfig config) {
    return config
        .experts()
        .map(sizes -> Math.max(sizes.hasExperts(0) ? 0 : config.feedForward(), sizes.sharedWidth()))
        .orElse(config.feedForward());
  }

  /**
   * Computes queries, keys and values of the layer. The input must not change until the backward
   * pass.
   */
  LayerVectors project(int layerIndex, LayerWeights weights, float[] input) {
    index = layerIndex;
    layer = weights;
    headWeights = weights.multiHead();
    rules = attention.rules(layer.window(), headWeights.sinks());
    feedForward =
        switch (weights.feedForward()) {
          case GatedWeights dense -> gated.with(dense);
          case ExpertWeights mixture -> experts.with(mixture);
          case UngatedWeights _, NoFeedForward _, DenseAndExpertWeights _ ->
              throw new IllegalStateException("no traced model has such layers");
        };
    x = input;
    rows.normalize(x, layer.attentionNorm(), config.normEpsilon(), tokens, normed);
    rows.project(normed, tokens, headWeights.query(), unnormedQueries);
    rows.project(normed, tokens, headWeights.key(), unnormedKeys);
    rows.project(normed, tokens, headWeights.value(), values);
    normalizeAndRotate(unnormedQueries, headWeights.queryNorm(), config.queryHeads(), queries);
    normalizeAndRotate(unnormedKeys, headWeights.keyNorm(), config.kvHeads(), keys);
    scaleQueries(queries);
    return vectors();
  }

  private LayerVectors vectors() {
    return new LayerVectors(index, tokens, queries, keys, values);
  }

  private void normalizeAndRotate(float[] from, HeadNorm norm, int heads, float[] to) {
    int headDim = config.headDim();
    System.arraycopy(from, 0, to, 0, from.length);
    workers.run(
        (token, worker) -> {
          int at = token * heads * headDim;
          norm.apply(kernels, to, at, heads, headDim);
          ropes.rotate(index, to, at, headDim, heads, token);
        },
        tokens);
  }

  /** Scales rotated queries, or gradients of scaled queries. */
  private void scaleQueries(float[] ofQueries) {
    int width = config.queryHeads() * config.headDim();
    rows.scale(ofQueries, tokens, width, config.scales().query());
    ropes.scaleQueries(kernels, workers, index, ofQueries, tokens, config.headDim());
  }

  /** Computes attention of the projected layer. */
  AttentionResult attend() {
    attention.forward(vectors(), rules, attentionOutput);
    rows.project(attentionOutput, tokens, headWeights.output(), projected);
    setUpdate(projected, layer.attentionOutNorm(), update);
    return new AttentionResult(vectors(), attention, rules, attentionOutput, update);
  }

  private void setUpdate(float[] from, float[] norm, float[] to) {
    rows.normalize(from, norm, config.normEpsilon(), tokens, to);
    rows.scale(to, tokens, config.hidden(), config.scales().residual());
  }

  /**
   * Replaces what attention adds to every token.
   *
   * @param ofToken (hidden)
   */
  void overrideAttention(float[] ofToken) {
    int hidden = config.hidden();
    for (int token = 0; token < tokens; token++) {
      System.arraycopy(ofToken, 0, update, token * hidden, hidden);
    }
  }

  /** Computes the rest of the layer after attention. */
  float[] finish() {
    prepareFeedForward();
    boolean hasOutNorm = layer.feedForwardOutNorm().length > 0;
    float[] out = new float[x.length];
    if (hasOutNorm && computed.length == 0) {
      computed = new float[x.length];
    }
    float[] raw = hasOutNorm ? computed : out;
    feedForward.finish(raw);
    setUpdate(raw, layer.feedForwardOutNorm(), out);
    addRows(out, afterAttention);
    return out;
  }

  /** Computes what the backward pass needs and {@link #attend} does not compute. */
  void prepareBackward() {
    if (layer.feedForwardOutNorm().length > 0) {
      finish(); // the norm's backward pass needs its input
    } else {
      prepareFeedForward();
    }
  }

  private void prepareFeedForward() {
    System.arraycopy(update, 0, afterAttention, 0, update.length);
    addRows(afterAttention, x);
    rows.normalize(afterAttention, layer.feedForwardNorm(), config.normEpsilon(), tokens, normed);
    feedForward.prepare(normed);
  }

  private void addRows(float[] to, float[] from) {
    rows.add(to, from, tokens, to.length / tokens);
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
    float[] dProjected = backwardOfUpdate(dx, projected, layer.attentionOutNorm());
    float[] dAttentionOutput = new float[attentionOutput.length];
    rows.addBackward(dProjected, tokens, headWeights.output(), dAttentionOutput);
    List<RangeGradients> byRange =
        ranges(farDistance).map(range -> RangeGradients.zero(range, keys.length)).toList();
    attention.backward(vectors(), rules, attentionOutput, dAttentionOutput, dQueries, byRange);
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
    float[] dOut = backwardOfUpdate(dx, computed, layer.feedForwardOutNorm());
    float[] dNormed = new float[normed.length];
    feedForward.addBackward(dOut, dNormed);
    rows.addBackwardOfNorm(
        afterAttention, layer.feedForwardNorm(), config.normEpsilon(), tokens, dNormed, dx);
  }

  /**
   * Returns the gradients of what is normalized, scaled and added to the residual stream.
   *
   * @param raw input of the norm; unused without one
   */
  private float[] backwardOfUpdate(float[] dx, float[] raw, float[] norm) {
    float residual = config.scales().residual();
    if (norm.length == 0 && residual == 1) {
      return dx;
    }
    float[] dUpdate = dx.clone();
    rows.scale(dUpdate, tokens, config.hidden(), residual);
    if (norm.length == 0) {
      return dUpdate;
    }
    float[] dRaw = new float[dx.length];
    rows.addBackwardOfNorm(raw, norm, config.normEpsilon(), tokens, dUpdate, dRaw);
    return dRaw;
  }

  /**
   * Propagates gradients from queries, keys and values back to the input of the layer.
   *
   * @param gradients from {@link #backwardToVectors}; consumed
   * @param dx result of that method, changed into gradients of the input
   */
  void backwardToInput(LayerGradients gradients, float[] dQueries, float[] dx) {
    float[] dKeys = gradients.keyGradients();
    scaleQueries(dQueries);
    backwardThroughHeads(dQueries, unnormedQueries, headWeights.queryNorm(), config.queryHeads());
    backwardThroughHeads(dKeys, unnormedKeys, headWeights.keyNorm(), config.kvHeads());
    float[] dNormed = new float[normed.length];
    rows.addBackward(dQueries, tokens, headWeights.query(), dNormed);
    rows.addBackward(dKeys, tokens, headWeights.key(), dNormed);
    rows.addBackward(gradients.valueGradients(), tokens, headWeights.value(), dNormed);
    rows.addBackwardOfNorm(x, layer.attentionNorm(), config.normEpsilon(), tokens, dNormed, dx);
  }

  /** Applies the inverse rotation and the backward pass of the norm, in place. */
  private void backwardThroughHeads(float[] dHeads, float[] unnormed, HeadNorm norm, int heads) {
    int width = heads * config.headDim();
    workers.run(
        (token, worker) -> {
          int at = token * width;
          ropes.rotate(index, dHeads, at, config.headDim(), heads, -token);
          if (norm instanceof HeadNorm.RootMeanSquare(float[] weight, float epsilon)) {
            float[] dy = Arrays.copyOfRange(dHeads, at, at + width);
            Arrays.fill(dHeads, at, at + width, 0);
            for (int i = 0; i < width; i += weight.length) {
              RmsNorms.addBackward(unnormed, at + i, weight, epsilon, dy, i, dHeads, at + i);
            }
          }
        },
        tokens);
  }
}
