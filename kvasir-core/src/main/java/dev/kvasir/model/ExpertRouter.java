package dev.kvasir.model;

import dev.kvasir.kernel.RowKernels;

/** Selects the experts of a row; not thread-safe. */
public final class ExpertRouter {
  /** Lower bound of the sum that weights are divided by: the smallest normal 16-bit float. */
  private static final float MIN_SUM = 0x1p-14f;

  private final ExpertConfig experts;
  private final Routing routing;
  private final float[] candidates; // by expert: score for selection
  private final float[] groupScores;
  private final int[] chosenGroups;
  private final int[] topScores;

  public ExpertRouter(ExpertConfig experts) {
    this.experts = experts;
    this.routing = experts.routing();
    Routing.Groups groups = routing.groups();
    this.candidates = new float[experts.count()];
    this.groupScores = new float[groups.count()];
    this.chosenGroups = new int[groups.used()];
    this.topScores = new int[groups.scoresPerGroup()];
  }

  /**
   * Writes the selected experts of a row and their weights from {@code to} on, the best first. Of
   * equal scores, the lower index comes first.
   *
   * @param scores router logits of the row from {@code at} on; overwritten
   * @param correction added to scores for selection; may be empty
   */
  public void route(
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

  /** Computes {@code x = 1 / (1 + exp(-x))}. */
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

  /** Excludes experts of all but the best groups. */
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
   * Finds the indices of the largest numbers of {@code x[at ..]}, the largest first. Of equal
   * numbers, the first comes first. NaNs do not leave indices unset.
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
