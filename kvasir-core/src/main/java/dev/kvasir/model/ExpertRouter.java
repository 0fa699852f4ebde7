package dev.kvasir.model;

import dev.kvasir.kernel.RowKernels;

/** Chooses the experts of one row after another; holds the memory for that. */
final class ExpertRouter {
  /** The least that weights are divided by: the smallest normal number of 16-bit floats. */
  private static final float MIN_SUM = 0x1p-14f;

  private final ExpertConfig experts;
  private final Routing routing;
  private final float[] candidates; // by expert: what it is chosen by
  private final float[] groupScores;
  private final int[] chosenGroups;
  private final int[] topScores;

  ExpertRouter(ExpertConfig experts) {
    this.experts = experts;
    this.routing = experts.routing();
    Routing.Groups groups = routing.groups();
    this.candidates = new float[experts.count()];
    this.groupScores = new float[groups.count()];
    this.chosenGroups = new int[groups.used()];
    this.topScores = new int[groups.scoresPerGroup()];
  }

  /**
   * Leaves the chosen experts of a row and their weights from {@code to} on, the best first; of
   * equals the one that comes first.
   *
   * @param scores the router's logits of the row from {@code at} on, which are spent
   * @param correction of scores where experts are chosen, or empty
   */
  void route(
      RowKernels rows,
      float[] scores,
      int at,
      float[] correction,
      int[] chosen,
      float[] weights,
      int to) {
    int count = experts.count();
    int used = experts.used();
    score(rows, scores, at);
    System.arraycopy(scores, at, candidates, 0, count);
    rows.add(candidates, 0, correction, 0, correction.length);
    maskOtherGroups();
    topK(candidates, 0, count, used, chosen, to);
    for (int i = 0; i < used; i++) {
      weights[to + i] = scores[at + chosen[to + i]];
    }
    normalizeWeights(rows, weights, to);
  }

  private void score(RowKernels rows, float[] x, int at) {
    int count = experts.count();
    switch (routing.score()) {
      case SOFTMAX -> softmax(rows, x, at, count);
      case SIGMOID -> sigmoid(rows, x, at, count);
      case LOGIT -> {}
    }
  }

  private static void softmax(RowKernels rows, float[] x, int at, int count) {
    float sum = rows.exponentiate(x, at, count, rows.maximum(x, at, count));
    divide(x, at, count, sum);
  }

  /** {@code x = 1 / (1 + exp(-x))}. */
  static void sigmoid(RowKernels rows, float[] x, int at, int count) {
    rows.scale(x, at, count, -1);
    rows.exponentiate(x, at, count, 0);
    for (int i = at; i < at + count; i++) {
      x[i] = 1 / (1 + x[i]);
    }
  }

  private static void divide(float[] x, int at, int count, float divisor) {
    for (int i = at; i < at + count; i++) {
      x[i] /= divisor;
    }
  }

  private void normalizeWeights(RowKernels rows, float[] weights, int at) {
    int used = experts.used();
    if (routing.score() == Routing.Score.LOGIT) {
      softmax(rows, weights, at, used);
    }
    if (routing.normalized()) {
      float sum = 0;
      for (int i = at; i < at + used; i++) {
        sum += weights[i];
      }
      divide(weights, at, used, Math.max(sum, MIN_SUM));
    }
    if (routing.scale() != 1) {
      rows.scale(weights, at, used, routing.scale());
    }
  }

  /** Takes experts of other groups out of the choice. */
  private void maskOtherGroups() {
    Routing.Groups groups = routing.groups();
    if (groups.used() == groups.count()) {
      return;
    }
    int size = experts.count() / groups.count();
    int scoresPerGroup = Math.min(groups.scoresPerGroup(), size);
    for (int group = 0; group < groups.count(); group++) {
      topK(candidates, group * size, size, scoresPerGroup, topScores, 0);
      groupScores[group] = 0;
      for (int i = 0; i < scoresPerGroup; i++) {
        groupScores[group] += candidates[group * size + topScores[i]];
      }
    }
    topK(groupScores, 0, groups.count(), groups.used(), chosenGroups, 0);
    for (int group = 0; group < groups.count(); group++) {
      if (!isChosen(group)) {
        for (int expert = group * size; expert < (group + 1) * size; expert++) {
          candidates[expert] = Float.NEGATIVE_INFINITY;
        }
      }
    }
  }

  private boolean isChosen(int group) {
    for (int chosen : chosenGroups) {
      if (chosen == group) {
        return true;
      }
    }
    return false;
  }

  /**
   * The places of the largest numbers of {@code x[at ..]}, the largest first; of equals the first
   * comes first. Numbers that are none take places like any other.
   */
  private static void topK(float[] x, int at, int count, int wanted, int[] places, int to) {
    int found = 0;
    for (int i = 0; i < count; i++) {
      float number = x[at + i];
      if (found == wanted && !(number > x[at + places[to + wanted - 1]])) {
        continue;
      }
      int place = found < wanted ? found++ : wanted - 1;
      while (place > 0 && number > x[at + places[to + place - 1]]) {
        places[to + place] = places[to + place - 1];
        place--;
      }
      places[to + place] = i;
    }
  }
}
