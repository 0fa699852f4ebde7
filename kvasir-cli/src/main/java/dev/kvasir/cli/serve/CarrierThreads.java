package dev.kvasir.cli.serve;

/**
 * Lets the operating system divide the processors between requests. Handlers are virtual threads,
 * which leave their carrier only when they wait: where there are two carriers, two handlers that
 * parse or tokenize a long prompt keep all streams from being written.
 */
public final class CarrierThreads {
  private static final String PARALLELISM = "jdk.virtualThreadScheduler.parallelism";
  private static final int LEAST = 16;

  private CarrierThreads() {}

  /** Raises their number, unless it is given; called before the first virtual thread starts. */
  public static void raise() {
    int processors = Runtime.getRuntime().availableProcessors();
    if (System.getProperty(PARALLELISM) == null && processors < LEAST) {
      System.setProperty(PARALLELISM, Integer.toString(LEAST));
    }
  }
}
