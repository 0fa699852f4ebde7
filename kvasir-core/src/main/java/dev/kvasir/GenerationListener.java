package dev.kvasir;

/** Follows a generation on the thread that started it. */
@FunctionalInterface
public interface GenerationListener {
  /** Called with a piece of text that will not change. */
  void text(String piece);

  /**
   * Called with a token's log probability, before the text that it completes; only if requested.
   */
  default void logprob(TokenLogprob token) {}

  /** Called with the progress of prefill. */
  default void promptProgress(int tokensDone, int tokensInAll) {}

  /** Called before each token; true stops the generation and keeps everything generated so far. */
  default boolean stopped() {
    return false;
  }
}
