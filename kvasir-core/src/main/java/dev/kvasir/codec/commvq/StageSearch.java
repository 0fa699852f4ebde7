package dev.kvasir.codec.commvq;

import java.util.Arrays;

/**
 * The best few centres of a stage, for one or several residuals of the same vector. Centres in
 * order of {@code error + |centre(a, b)|^2 - 2 f[a] - 2 h[b]}, f and h the products of a residual
 * with first and second rows: the least over b for each a is 4,096 subtractions, and the best few
 * pairs lie in as many rows a.
 */
final class StageSearch {
  private static final int ROWS = AdditiveStages.ROWS;

  private final AdditiveStages stages;
  private final float[] doubled = new float[ROWS]; // 2 h
  private final float[] least = new float[ROWS]; // for each a
  private final float[] errors; // of those found, the smallest first
  private final int[] origins;
  private final short[] codes;
  private int wanted;

  StageSearch(AdditiveStages stages, int most) {
    this.stages = stages;
    this.errors = new float[most];
    this.origins = new int[most];
    this.codes = new short[most];
  }

  void begin(int wanted) {
    this.wanted = wanted;
    Arrays.fill(errors, Float.POSITIVE_INFINITY);
  }

  /**
   * Takes a residual's centres into account.
   *
   * @param origin a name for the residual
   * @param error its squared length, or that less what all residuals of the vector share
   * @param products (2, ROWS) of it and the stage's rows
   */
  void offer(int stage, int origin, float error, float[] products, int at) {
    for (int b = 0; b < ROWS; b++) {
      doubled[b] = 2 * products[at + ROWS + b];
    }
    int nearest = 0;
    for (int a = 0; a < ROWS; a++) {
      least[a] = least(stages.squaresAt(stage, a)) + (error - 2 * products[at + a]);
      nearest = least[a] < least[nearest] ? a : nearest;
    }
    // The best row first: what it holds keeps most others out.
    offerRow(stage, origin, error - 2 * products[at + nearest], nearest);
    for (int a = 0; a < ROWS && wanted > 1; a++) {
      if (a != nearest && least[a] < errors[wanted - 1]) {
        offerRow(stage, origin, error - 2 * products[at + a], a);
      }
    }
  }

  private float least(int at) {
    float[] squares = stages.squares();
    float least = Float.POSITIVE_INFINITY;
    for (int b = 0; b < ROWS; b++) {
      least = Math.min(least, squares[at + b] - doubled[b]);
    }
    return least;
  }

  private void offerRow(int stage, int origin, float shift, int a) {
    float[] squares = stages.squares();
    int at = stages.squaresAt(stage, a);
    for (int b = 0; b < ROWS; b++) {
      float error = squares[at + b] - doubled[b] + shift;
      if (error < errors[wanted - 1]) {
        insert(error, origin, AdditiveStages.code(a, b));
      }
    }
  }

  private void insert(float error, int origin, short code) {
    int rank = wanted - 1;
    for (; rank > 0 && errors[rank - 1] > error; rank--) {
      errors[rank] = errors[rank - 1];
      origins[rank] = origins[rank - 1];
      codes[rank] = codes[rank - 1];
    }
    errors[rank] = error;
    origins[rank] = origin;
    codes[rank] = code;
  }

  float error(int rank) {
    return errors[rank];
  }

  int origin(int rank) {
    return origins[rank];
  }

  short code(int rank) {
    return codes[rank];
  }
}
