package dev.kvasir.lab.smooth;

import dev.kvasir.error.InvalidInputException;
import java.io.Serializable;

/**
 * What of a text is coded when a strength is tried, and how closely one looks.
 *
 * @param sinks tokens at the beginning that the cache never codes
 * @param window tokens before a query, itself included, that it sees as they are
 * @param queries of a text that attend in a trial, spread evenly
 * @param sharing whose reach a channel's factor comes from
 */
public record SmoothingSettings(int sinks, int window, int queries, FactorSharing sharing)
    implements Serializable {
  public SmoothingSettings {
    if (sinks < 0 || window < 1 || queries < 1) {
      throw new IllegalArgumentException(
          "sinks is %d, window %d, queries %d; expected at least 0, 1 and 1"
              .formatted(sinks, window, queries));
    }
  }

  /** The tokens that PM-KVQ keeps in full precision, and enough queries for a stable choice. */
  public static SmoothingSettings defaults() {
    return new SmoothingSettings(1, 128, 256, FactorSharing.TIED);
  }

  public SmoothingSettings withSharing(FactorSharing value) {
    return new SmoothingSettings(sinks, window, queries, value);
  }

  /** The first position whose query sees a coded key. */
  int firstQuery() {
    return sinks + window;
  }

  /** Positions from one query to the next. */
  int step(int tokens) {
    return Math.max(1, (tokens - firstQuery()) / queries);
  }

  int queriesOf(int tokens) {
    return Math.min(queries, tokens - firstQuery());
  }

  void check(int tokens) {
    if (tokens <= firstQuery()) {
      throw new InvalidInputException(
          "the length of samples is %d; expected more than %d, the tokens that are never coded"
              .formatted(tokens, firstQuery()));
    }
  }
}
