package dev.kvasir.lab.roundtrip;

/** Receives progress reports of a round trip, on the thread that runs it. */
public interface RoundTripListener {
  /** Ignores all reports and never cancels. */
  RoundTripListener NONE = new RoundTripListener() {};

  /** Reports how many tokens the cache has received. */
  default void fed(int tokensDone, int totalTokens) {}

  /** Reports how many queries have attended. */
  default void attended(int queriesDone, int totalQueries) {}

  /** Returns true to cancel the round trip, in which case no file appears. It is polled often. */
  default boolean isCancelled() {
    return false;
  }
}
