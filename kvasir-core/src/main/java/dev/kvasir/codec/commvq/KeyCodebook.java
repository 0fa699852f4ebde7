package dev.kvasir.codec.commvq;

/**
 * The codebook of keys before rotation, with channels in {@link PairOrder}. A pair of channels is a
 * complex number {@code x + iy}, and rotation multiplies it by {@code e^(i angle)}. The centers of
 * a stage are
 *
 * <pre>
 * centre(a, b) = z[a] + i z[b]:   x = X[a] - Y[b],   y = Y[a] + X[b]
 * </pre>
 *
 * so that {@code q . rotated(centre) = Re(w z[a]) - Im(w z[b])} with the same products {@code w =
 * conj(q) e^(i angle)} for all codes: keys need not be decoded before rotation.
 */
public final class KeyCodebook implements Codebook {
  private final float[] mean;
  private final AdditiveStages stages;

  /**
   * Creates a codebook.
   *
   * @param mean (headDim) in the order of pairs
   * @param numbers (stages, {@link AdditiveStages#ROWS}, headDim) in the order of pairs
   */
  public KeyCodebook(float[] mean, float[] numbers) {
    this(mean, AdditiveStages.ROWS, numbers);
  }

  /**
   * Creates a codebook whose sets use only some of their rows.
   *
   * @param used see {@link AdditiveStages#used}
   */
  public KeyCodebook(float[] mean, int used, float[] numbers) {
    this.mean = mean.clone();
    this.stages = withRotatedRows(numbers, used, mean.length);
  }

  /**
   * Creates a codebook from trained stages.
   *
   * @param stages whose second rows are the first ones times i
   */
  public static KeyCodebook of(float[] mean, AdditiveStages stages) {
    return new KeyCodebook(mean, stages.used(), firstRows(stages));
  }

  /** Returns stages whose second rows are the first ones times i. */
  private static AdditiveStages withRotatedRows(float[] numbers, int used, int headDim) {
    int block = AdditiveStages.ROWS * headDim;
    int count = numbers.length / block;
    float[] rows = new float[2 * numbers.length];
    for (int stage = 0; stage < count; stage++) {
      System.arraycopy(numbers, stage * block, rows, 2 * stage * block, block);
      for (int row = 0; row < AdditiveStages.ROWS; row++) {
        int from = stage * block + row * headDim;
        multiplyByI(numbers, from, rows, from + (stage + 1) * block, headDim / 2);
      }
    }
    return new AdditiveStages(count, headDim, used, rows);
  }

  /** Rotates by 90 degrees: {@code i (x + iy) = -y + ix}. */
  private static void multiplyByI(float[] x, int at, float[] out, int to, int pairs) {
    for (int pair = 0; pair < pairs; pair++) {
      out[to + pair] = -x[at + pairs + pair];
      out[to + pairs + pair] = x[at + pair];
    }
  }

  @Override
  public float[] mean() {
    return mean;
  }

  /** Returns X of all pairs, then Y of all pairs. // (stages, ROWS, headDim) */
  public float[] numbers() {
    return firstRows(stages);
  }

  private static float[] firstRows(AdditiveStages stages) {
    int block = AdditiveStages.ROWS * stages.length();
    float[] numbers = new float[stages.stages() * block];
    for (int stage = 0; stage < stages.stages(); stage++) {
      System.arraycopy(stages.rows(), stages.firstAt(stage, 0), numbers, stage * block, block);
    }
    return numbers;
  }

  @Override
  public AdditiveStages stages() {
    return stages;
  }
}
