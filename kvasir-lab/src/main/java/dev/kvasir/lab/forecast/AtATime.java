package dev.kvasir.lab.forecast;

/**
 * How much of a work goes on in one process at a time.
 *
 * @param pieces side by side, all on its heap
 * @param threads of each
 */
public record AtATime(int pieces, int threads) {
  /** One piece after another. */
  public static AtATime one(int threads) {
    return new AtATime(1, threads);
  }

  public int allThreads() {
    return pieces * threads;
  }
}
