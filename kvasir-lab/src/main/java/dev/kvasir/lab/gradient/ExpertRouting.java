package dev.kvasir.lab.gradient;

import dev.kvasir.model.ExpertConfig;
import dev.kvasir.model.ExpertRouter;
import dev.kvasir.model.ExpertWeights;
import dev.kvasir.model.Routing;

/**
 * Which experts each token uses and with which weights, and the gradients of router logits. The
 * selection counts as a constant.
 */
final class ExpertRouting {
  private final RowProducts rows;
  private final ExpertConfig config;
  private final int tokens;
  private final float[] scores; // (tokens, experts), logits or what replaces them
  private final int[] chosen; // (tokens, used)
  private final float[] weights; // (tokens, used)
  private ExpertWeights layer;

  ExpertRouting(RowProducts rows, ExpertConfig config, int tokens) {
    this.rows = rows;
    this.config = config;
    this.tokens = tokens;
    this.scores = new float[tokens * config.count()];
    this.chosen = new int[tokens * config.used()];
    this.weights = new float[tokens * config.used()];
  }

  void route(ExpertWeights ofLayer, float[] normed) {
    layer = ofLayer;
    rows.project(normed, tokens, layer.router(), scores);
    ExpertRouter router = new ExpertRouter(config);
    for (int token = 0; token < tokens; token++) {
      router.route(
          rows.kernels().rows(),
          scores,
          token * config.count(),
          layer.correction(),
          chosen,
          weights,
          token * config.used());
    }
  }

  /** Returns the expert of a pair, which is a token and one of its choices. */
  int expert(int pair) {
    return chosen[pair];
  }

  float weight(int pair) {
    return weights[pair];
  }

  /**
   * Adds the gradients of the router's input.
   *
   * @param dWeights gradients of the weights (tokens, used)
   */
  void addBackward(float[] dWeights, float[] dNormed) {
    float[] dLogits = new float[scores.length];
    for (int token = 0; token < tokens; token++) {
      backward(token, dWeights, dLogits);
    }
    rows.addBackward(dLogits, tokens, layer.router(), dNormed);
  }

  private void backward(int token, float[] dWeights, float[] dLogits) {
    Routing routing = config.routing();
    int used = config.used();
    int first = token * used;
    boolean isAfterTopK = routing.score() == Routing.Score.LOGIT;
    double sum = 0;
    double along = 0; // the gradient along the weights, which a constant sum removes
    for (int i = first; i < first + used; i++) {
      sum += scores[token * config.count() + chosen[i]];
      along += (double) dWeights[i] * weights[i];
    }
    for (int i = first; i < first + used; i++) {
      int at = token * config.count() + chosen[i];
      double d = (double) dWeights[i] * routing.scale();
      if (isAfterTopK) {
        double share = weights[i] / routing.scale();
        dLogits[at] = (float) (share * (d - along));
      } else if (routing.normalized()) {
        dLogits[at] = (float) ((d - along) / sum);
      } else {
        dLogits[at] = (float) d;
      }
    }
    if (routing.score() == Routing.Score.SOFTMAX) {
      throughSoftmax(token, dLogits);
    } else if (routing.score() == Routing.Score.SIGMOID) {
      for (int i = first; i < first + used; i++) {
        int at = token * config.count() + chosen[i];
        dLogits[at] *= scores[at] * (1 - scores[at]);
      }
    }
  }

  /** Changes gradients of probabilities into those of logits. */
  private void throughSoftmax(int token, float[] dLogits) {
    int begin = token * config.count();
    double mean = 0;
    for (int i = begin; i < begin + config.count(); i++) {
      mean += (double) scores[i] * dLogits[i];
    }
    for (int i = begin; i < begin + config.count(); i++) {
      dLogits[i] = (float) (scores[i] * (dLogits[i] - mean));
    }
  }
}
