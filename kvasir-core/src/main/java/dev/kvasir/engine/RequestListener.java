package dev.kvasir.engine;

import dev.kvasir.sampling.TokenLogprob;

/** Follows a generation while it runs, on the thread that asked for it. */
@FunctionalInterface
public interface RequestListener {
  /** A piece of text that will not change any more. */
  void text(String piece);

  /** How likely a token was, before the text that it completes; only where that was asked for. */
  default void likelihood(TokenLogprob token) {}

  /** How much of the prompt has been read. */
  default void promptProgress(int tokensDone, int tokensInAll) {}

  /** Asked before each token; true ends the generation there, with nothing lost. */
  default boolean stopped() {
    return false;
  }
}
