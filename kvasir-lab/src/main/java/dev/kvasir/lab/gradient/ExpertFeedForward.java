package dev.kvasir.lab.gradient;

import dev.kvasir.kernel.Matrix;
import dev.kvasir.model.ExpertConfig;
import dev.kvasir.model.ExpertWeights;
import dev.kvasir.model.GatedWeights;
import dev.kvasir.model.SharedExpert;
import java.util.Arrays;

/**
 * A mixture of experts. A pair is a token and one of its experts; pairs are ordered by expert, so
 * that an expert's weights are expanded once for all its tokens.
 */
final class ExpertFeedForward implements FeedForward {
  private final RowProducts rows;
  private final ExpertConfig config;
  private final int tokens;
  private final int hidden;
  private final ExpertRouting routing;
  private final GatedFeedForward shared;
  private final int[] ends; // by expert: end of its pairs
  private final int[] order; // pairs by expert
  private final float[] gate; // (pairs by expert, width)
  private final float[] up; // (pairs by expert, width)
  private final float[] outputs; // (pairs by expert, hidden)
  private final float[] sharedGate; // (tokens), logit of the shared expert's weight

  private ExpertWeights weights;
  private float[] input; // (tokens, hidden)
  private float[] sharedOutput; // (tokens, hidden)

  /**
   * @param shared runs the shared expert
   */
  ExpertFeedForward(
      RowProducts rows, ExpertConfig config, int tokens, int hidden, GatedFeedForward shared) {
    this.rows = rows;
    this.config = config;
    this.tokens = tokens;
    this.hidden = hidden;
    this.shared = shared;
    this.routing = new ExpertRouting(rows, config, tokens);
    int pairs = tokens * config.used();
    this.ends = new int[config.count()];
    this.order = new int[pairs];
    this.gate = new float[pairs * config.width()];
    this.up = new float[pairs * config.width()];
    this.outputs = new float[pairs * hidden];
    this.sharedGate = new float[tokens];
  }

  ExpertFeedForward with(ExpertWeights ofLayer) {
    weights = ofLayer;
    return this;
  }

  @Override
  public void prepare(float[] normed) {
    input = normed;
    routing.route(weights, normed);
    orderPairs();
    for (int expert = 0; expert < config.count(); expert++) {
      if (count(expert) > 0) {
        computeExpert(expert);
      }
    }
    if (weights.shared().isPresent()) {
      computeShared(weights.shared().get());
    }
  }

  private void orderPairs() {
    Arrays.fill(ends, 0);
    for (int pair = 0; pair < order.length; pair++) {
      ends[routing.expert(pair)]++;
    }
    int begin = 0;
    for (int expert = 0; expert < ends.length; expert++) {
      int some = ends[expert];
      ends[expert] = begin;
      begin += some;
    }
    for (int pair = 0; pair < order.length; pair++) {
      order[ends[routing.expert(pair)]++] = pair;
    }
  }

  private int first(int expert) {
    return expert == 0 ? 0 : ends[expert - 1];
  }

  private int count(int expert) {
    return ends[expert] - first(expert);
  }

  private int token(int place) {
    return order[place] / config.used();
  }

  private void computeExpert(int expert) {
    GatedWeights ofExpert = weights.gated(expert);
    int count = count(expert);
    int first = first(expert);
    int width = config.width();
    float[] x = gathered(input, expert);
    float[] g = new float[count * width];
    float[] u = new float[count * width];
    rows.project(x, count, ofExpert.gate(), g);
    rows.project(x, count, ofExpert.up(), u);
    System.arraycopy(g, 0, gate, first * width, g.length);
    System.arraycopy(u, 0, up, first * width, u.length);
    float[] activated = new float[count * width];
    for (int row = 0; row < count; row++) {
      int at = row * width;
      GatedFeedForward.activate(rows, ofExpert, g, u, at, width, activated, at);
    }
    float[] y = new float[count * hidden];
    rows.project(activated, count, ofExpert.down(), y);
    System.arraycopy(y, 0, outputs, first * hidden, y.length);
  }

  /** Returns the rows of an expert's tokens. */
  private float[] gathered(float[] from, int expert) {
    float[] some = new float[count(expert) * hidden];
    for (int row = 0; row < count(expert); row++) {
      System.arraycopy(from, token(first(expert) + row) * hidden, some, row * hidden, hidden);
    }
    return some;
  }

  private void computeShared(SharedExpert expert) {
    sharedOutput = new float[tokens * hidden];
    shared.with(expert.gated()).prepare(input);
    shared.finish(sharedOutput);
    if (expert.gate().isPresent()) {
      rows.products().forward(input, tokens, expert.gate().get(), sharedGate);
    }
  }

  @Override
  public void finish(float[] out) {
    Arrays.fill(out, 0);
    for (int place = 0; place < order.length; place++) {
      float weight = routing.weight(order[place]);
      addScaled(outputs, place * hidden, weight, out, token(place) * hidden);
    }
    if (weights.shared().isPresent()) {
      for (int token = 0; token < tokens; token++) {
        int at = token * hidden;
        addScaled(sharedOutput, at, sharedWeight(token), out, at);
      }
    }
  }

  private float sharedWeight(int token) {
    boolean isGated = weights.shared().orElseThrow().gate().isPresent();
    return isGated ? GateGradients.sigmoid(sharedGate[token]) : 1;
  }

  private void addScaled(float[] from, int at, float factor, float[] to, int toAt) {
    for (int i = 0; i < hidden; i++) {
      to[toAt + i] += factor * from[at + i];
    }
  }

  @Override
  public void addBackward(float[] dOut, float[] dNormed) {
    float[] dWeights = new float[order.length];
    for (int place = 0; place < order.length; place++) {
      dWeights[order[place]] = dot(dOut, token(place) * hidden, outputs, place * hidden);
    }
    routing.addBackward(dWeights, dNormed);
    for (int expert = 0; expert < config.count(); expert++) {
      if (count(expert) > 0) {
        backwardOfExpert(expert, dOut, dNormed);
      }
    }
    weights.shared().ifPresent(expert -> backwardOfShared(expert, dOut, dNormed));
  }

  private void backwardOfExpert(int expert, float[] dOut, float[] dNormed) {
    GatedWeights ofExpert = weights.gated(expert);
    int count = count(expert);
    int first = first(expert);
    int width = config.width();
    float[] dy = gathered(dOut, expert);
    for (int row = 0; row < count; row++) {
      float weight = routing.weight(order[first + row]);
      rows.kernels().rows().scale(dy, row * hidden, hidden, weight);
    }
    float[] dGate = new float[count * width]; // of the product at first
    rows.addBackward(dy, count, ofExpert.down(), dGate);
    float[] dUp = new float[count * width];
    float[] g = Arrays.copyOfRange(gate, first * width, (first + count) * width);
    float[] u = Arrays.copyOfRange(up, first * width, (first + count) * width);
    GateGradients.backward(ofExpert.activation(), g, u, 0, g.length, dGate, dUp);
    float[] dx = new float[count * hidden];
    rows.addBackward(dGate, count, ofExpert.gate(), dx);
    rows.addBackward(dUp, count, ofExpert.up(), dx);
    for (int row = 0; row < count; row++) {
      addScaled(dx, row * hidden, 1, dNormed, token(first + row) * hidden);
    }
  }

  private void backwardOfShared(SharedExpert expert, float[] dOut, float[] dNormed) {
    float[] dy = dOut.clone();
    for (int token = 0; token < tokens; token++) {
      rows.kernels().rows().scale(dy, token * hidden, hidden, sharedWeight(token));
    }
    shared.with(expert.gated()).addBackward(dy, dNormed);
    expert.gate().ifPresent(gates -> backwardOfSharedGate(gates, dOut, dNormed));
  }

  private void backwardOfSharedGate(Matrix gates, float[] dOut, float[] dNormed) {
    float[] dGates = new float[tokens];
    for (int token = 0; token < tokens; token++) {
      float s = sharedWeight(token);
      dGates[token] = dot(dOut, token * hidden, sharedOutput, token * hidden) * s * (1 - s);
    }
    rows.products().addBackward(dGates, tokens, gates, dNormed);
  }

  private float dot(float[] a, int aAt, float[] b, int bAt) {
    double sum = 0;
    for (int i = 0; i < hidden; i++) {
      sum += (double) a[aAt + i] * b[bAt + i];
    }
    return (float) sum;
  }
}
