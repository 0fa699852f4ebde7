package dev.kvasir.lab.smooth;

import dev.kvasir.error.InvalidInputException;
import java.io.Serializable;

/**
 * Settings for testing smoothing strengths.
 *
 * @param sinks leading tokens that the cache never quantizes
 * @param window tokens before a query, including its own, that stay in full precision
 * @param queries number of evenly spaced queries of a text that attend in a trial
 * @param sharing which channels share a factor
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

  /** Returns the full-precision tokens of PM-KVQ and enough queries for a stable choice. */
  public static SmoothingSettings defaults() {
    return new SmoothingSettings(1, 128, 256, FactorSharing.TIED);
  }

  public SmoothingSettings withSharing(FactorSharing value) {
    return new SmoothingSettings(sinks, window, queries, value);
  }

  /** Returns the first position whose query sees a quantized key. */
  int firstQuery() {
    return sinks + window;
  }

  /** Returns the distance between queries in positions. */
  int step(int tokens) {
    return Math.max(1, (tokens - firstQuery()) / queries);
  }

  int queriesOf(int tokens) {
    return Math.min(queries, tokens - firstQuery());
  }

  void check(int tokens) {
    if (tokens <= firstQuery()) {
      throw new InvalidInputException(
          "the length of samples is %d; expected more than %d, the tokens that are never quantized"
              .formatted(tokens, firstQuery()));
    }
  }
}
