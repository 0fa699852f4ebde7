package dev.kvasir.lab.roundtrip;

/** Follows a round trip while it runs, on the thread that runs it. */
public interface RoundTripListener {
  /** Hears nothing and never stops. */
  RoundTripListener NONE = new RoundTripListener() {};

  /** How many tokens the cache has been fed. */
  default void fed(int tokensDone, int tokensInAll) {}

  /** How many queries have attended. */
  default void attended(int queriesDone, int queriesInAll) {}

  /** Asked often; true ends the round trip there, and no file appears. */
  default boolean isCancelled() {
    return false;
  }
}
