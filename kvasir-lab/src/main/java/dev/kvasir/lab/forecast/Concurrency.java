package dev.kvasir.lab.forecast;

/**
 * How much of a work goes on in one process at a time.
 *
 * @param pieces side by side, all on its heap
 * @param threads of each
 */
public record Concurrency(int tasks, int threads) {
  /** One piece after another. */
  public static Concurrency one(int threads) {
    return new Concurrency(1, threads);
  }

  public int allThreads() {
    return tasks * threads;
  }
}
