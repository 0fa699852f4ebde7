package dev.kvasir.lab.gradient;

import dev.kvasir.model.GatedWeights;

/** A gated feed-forward layer: {@code down (f(gate x) * up x)}. */
final class GatedFeedForward implements FeedForward {
  private final RowProducts rows;
  private final int tokens;
  private final float[] gate; // (tokens, width), before the activation
  private final float[] up; // (tokens, width)
  private GatedWeights weights;

  /**
   * @param maxWidth largest feed-forward width of a layer
   */
  GatedFeedForward(RowProducts rows, int tokens, int maxWidth) {
    this.rows = rows;
    this.tokens = tokens;
    this.gate = new float[tokens * maxWidth];
    this.up = new float[tokens * maxWidth];
  }

  GatedFeedForward with(GatedWeights ofLayer) {
    weights = ofLayer;
    return this;
  }

  private int width() {
    return weights.gate().matrix().rows();
  }

  @Override
  public void prepare(float[] normed) {
    rows.project(normed, tokens, weights.gate(), gate);
    rows.project(normed, tokens, weights.up(), up);
  }

  @Override
  public void finish(float[] out) {
    int width = width();
    float[] activated = new float[tokens * width];
    rows.workers()
        .run(
            (token, worker) ->
                activate(rows, weights, gate, up, token * width, width, activated, token * width),
            tokens);
    rows.project(activated, tokens, weights.down(), out);
  }

  /** Computes {@code f(gate) * up} of a row without changing its operands. */
  static void activate(
      RowProducts rows,
      GatedWeights weights,
      float[] gates,
      float[] ups,
      int at,
      int width,
      float[] out,
      int outAt) {
    float[] g = new float[width];
    float[] u = new float[width];
    System.arraycopy(gates, at, g, 0, width);
    System.arraycopy(ups, at, u, 0, width);
    weights.activation().applyGate(rows.kernels().rows(), g, u, 0, width);
    System.arraycopy(g, 0, out, outAt, width);
  }

  @Override
  public void addBackward(float[] dOut, float[] dNormed) {
    int width = width();
    float[] dGate = new float[tokens * width]; // of the product at first
    rows.addBackward(dOut, tokens, weights.down(), dGate);
    float[] dUp = new float[tokens * width];
    rows.workers()
        .run(
            (token, worker) ->
                GateGradients.backward(
                    weights.activation(), gate, up, token * width, width, dGate, dUp),
            tokens);
    rows.addBackward(dGate, tokens, weights.gate(), dNormed);
    rows.addBackward(dUp, tokens, weights.up(), dNormed);
  }
}
