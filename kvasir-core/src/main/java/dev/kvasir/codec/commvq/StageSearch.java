package dev.kvasir.codec.commvq;

import dev.kvasir.kernel.Kernels;
import java.util.Arrays;

/**
 * Finds the best few centers of a stage, for one or several residuals of the same vector. Centers
 * are ranked by {@code error + |centre(a, b)|^2 - 2 f[a] - 2 h[b]}, where f and h are the products
 * of a residual with first and second rows. The minimum over b takes 64 subtractions for each a.
 * The best n centers are then in the n rows a with the smallest minima, and only these are searched
 * again.
 */
public final class StageSearch {
  private static final int ROWS = AdditiveStages.ROWS;

  private final Kernels kernels;
  private final float[] minima = new float[ROWS]; // over b, for each a
  private final Ranking rows;
  private final Ranking centres;
  private AdditiveStages stages;
  private float[] products;
  private int stage;

  /**
   * Creates a search.
   *
   * @param max maximum number of centers that {@link #begin} may request
   */
  public StageSearch(Kernels kernels, int max) {
    this.kernels = kernels;
    this.rows = new Ranking(max);
    this.centres = new Ranking(max);
  }

  /**
   * Starts a new search.
   *
   * @param products of residuals and the stage's rows
   */
  public void begin(AdditiveStages stages, int stage, int wanted, float[] products) {
    this.stages = stages;
    this.stage = stage;
    this.products = products;
    rows.begin(wanted);
    centres.begin(wanted);
  }

  /**
   * Adds the centers of a residual.
   *
   * @param error its squared norm, possibly without a term common to all residuals of the vector
   * @param at offset of its products: (2, ROWS)
   */
  public void offer(float error, int at) {
    kernels
        .codebooks()
        .minDistances(stages.squares(), stages.squaresAt(stage, 0), products, at + ROWS, minima);
    for (int a = 0; a < ROWS; a++) {
      float shift = error - 2 * products[at + a];
      float min = minima[a] + shift;
      if (min < rows.worst()) {
        rows.insert(min, at, a, shift);
      }
    }
  }

  /** Ranks the centers of all residuals. Must be called once, before results are read. */
  public void rank() {
    float[] squares = stages.squares();
    for (int rank = 0; rank < rows.wanted && rows.errors[rank] < centres.worst(); rank++) {
      int at = rows.origins[rank];
      int a = rows.choices[rank];
      int row = stages.squaresAt(stage, a);
      for (int b = 0; b < ROWS; b++) {
        float error = squares[row + b] - 2 * products[at + ROWS + b] + rows.shifts[rank];
        if (error < centres.worst()) {
          centres.insert(error, at, AdditiveStages.code(a, b), 0);
        }
      }
    }
  }

  /** Returns the error of a center by rank, zero for the best. */
  public float error(int rank) {
    return centres.errors[rank];
  }

  /** Returns the residual of a center: the offset of its products. */
  public int origin(int rank) {
    return centres.origins[rank];
  }

  public short code(int rank) {
    return (short) centres.choices[rank];
  }

  /** The smallest of many errors, in ascending order. */
  private static final class Ranking {
    private final float[] errors;
    private final int[] origins;
    private final int[] choices;
    private final float[] shifts;
    private int wanted;

    Ranking(int max) {
      this.errors = new float[max];
      this.origins = new int[max];
      this.choices = new int[max];
      this.shifts = new float[max];
    }

    void begin(int count) {
      wanted = count;
      Arrays.fill(errors, 0, count, Float.POSITIVE_INFINITY);
    }

    float worst() {
      return errors[wanted - 1];
    }

    void insert(float error, int origin, int choice, float shift) {
      int rank = wanted - 1;
      for (; rank > 0 && errors[rank - 1] > error; rank--) {
        errors[rank] = errors[rank - 1];
        origins[rank] = origins[rank - 1];
        choices[rank] = choices[rank - 1];
        shifts[rank] = shifts[rank - 1];
      }
      errors[rank] = error;
      origins[rank] = origin;
      choices[rank] = choice;
      shifts[rank] = shift;
    }
  }
}
