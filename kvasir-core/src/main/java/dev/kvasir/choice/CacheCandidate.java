package dev.kvasir.choice;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.error.InvalidInputException;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * A cache of the table, for one model, context and budget.
 *
 * @param bytes the most bytes that it takes; empty if it cannot be used
 * @param divergence mean KL divergence from fp16, in nats per token
 * @param speed decoding speed divided by that of fp16; empty if not measured
 * @param note why it cannot be used; empty if it can
 */
public record CacheCandidate(
    CacheSpec spec,
    OptionalLong bytes,
    double divergence,
    OptionalDouble speed,
    Status status,
    String note) {
  /** Decoding at this share of fp16's speed does not count as slower: timings vary as much. */
  private static final double LEAST_SPEED = 0.95;

  /** Whether a cache can be chosen. */
  public enum Status {
    /** It fits. */
    FITS,
    /** It fits, and decodes more slowly than fp16. */
    SLOWER,
    /** It takes more than the budget. */
    TOO_LARGE,
    /** The model, its profile or the device does not support it. */
    UNUSABLE
  }

  static CacheCandidate of(CacheSpec spec, CacheFigure figure, ChoiceRequest request) {
    try {
      long bytes = request.bytes(spec);
      if (!request.supports().test(spec)) {
        return unusable(spec, figure, "the device does not support it");
      }
      return new CacheCandidate(
          spec,
          OptionalLong.of(bytes),
          figure.divergence(),
          figure.speed(),
          status(bytes, figure, request),
          "");
    } catch (InvalidInputException e) {
      return unusable(spec, figure, e.getMessage());
    }
  }

  private static Status status(long bytes, CacheFigure figure, ChoiceRequest request) {
    if (bytes > request.memoryBytes()) {
      return Status.TOO_LARGE;
    }
    return figure.speed().orElse(1) < LEAST_SPEED ? Status.SLOWER : Status.FITS;
  }

  private static CacheCandidate unusable(CacheSpec spec, CacheFigure figure, String why) {
    return new CacheCandidate(
        spec, OptionalLong.empty(), figure.divergence(), figure.speed(), Status.UNUSABLE, why);
  }

  boolean fits() {
    return status == Status.FITS || status == Status.SLOWER;
  }
}
