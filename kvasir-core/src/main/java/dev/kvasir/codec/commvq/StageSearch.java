package dev.kvasir.codec.commvq;

import dev.kvasir.kernel.Kernels;
import java.util.Arrays;

/**
 * The best few centres of a stage, for one or several residuals of the same vector. Centres are in
 * order of {@code error + |centre(a, b)|^2 - 2 f[a] - 2 h[b]}, f and h the products of a residual
 * with first and second rows. For each a the least over b takes 64 subtractions; the best few
 * centres then lie in the as many rows a whose least is best, and only these are looked at again.
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
   * @param most centres that {@link #begin} may ask for
   */
  public StageSearch(Kernels kernels, int most) {
    this.kernels = kernels;
    this.rows = new Ranking(most);
    this.centres = new Ranking(most);
  }

  /**
   * Forgets what was found before.
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
   * Takes a residual's centres into account.
   *
   * @param error its squared length, or that less what all residuals of the vector share
   * @param at of its products: (2, ROWS)
   */
  public void offer(float error, int at) {
    kernels
        .codebooks()
        .minDistances(stages.squares(), stages.squaresAt(stage, 0), products, at + ROWS, minima);
    for (int a = 0; a < ROWS; a++) {
      float shift = error - 2 * products[at + a];
      float least = minima[a] + shift;
      if (least < rows.worst()) {
        rows.insert(least, at, a, shift);
      }
    }
  }

  /** Ranks the centres of what was offered; to be called once, before they are asked for. */
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

  /** Of the centre of a rank, zero for the best. */
  public float error(int rank) {
    return centres.errors[rank];
  }

  /** The residual that it belongs to: where its products begin. */
  public int origin(int rank) {
    return centres.origins[rank];
  }

  public short code(int rank) {
    return (short) centres.choices[rank];
  }

  /** The few smallest of many errors, the smallest first. */
  private static final class Ranking {
    private final float[] errors;
    private final int[] origins;
    private final int[] choices;
    private final float[] shifts;
    private int wanted;

    Ranking(int most) {
      this.errors = new float[most];
      this.origins = new int[most];
      this.choices = new int[most];
      this.shifts = new float[most];
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
