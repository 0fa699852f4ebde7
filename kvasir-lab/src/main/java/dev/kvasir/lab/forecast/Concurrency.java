package dev.kvasir.lab.forecast;

/**
 * How much work runs in parallel in one process.
 *
 * @param tasks tasks that run in parallel and share its heap
 * @param threads threads of each task
 */
public record Concurrency(int tasks, int threads) {
  /** Returns sequential execution. */
  public static Concurrency one(int threads) {
    return new Concurrency(1, threads);
  }

  public int allThreads() {
    return tasks * threads;
  }
}
