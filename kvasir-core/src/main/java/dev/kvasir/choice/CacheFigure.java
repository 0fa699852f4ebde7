package dev.kvasir.choice;

import java.util.OptionalDouble;

/**
 * What was measured with one cache.
 *
 * @param spec the cache spec
 * @param divergence mean KL divergence from fp16, in nats per token
 * @param speed decoding speed divided by that of fp16 with the same context; empty if not measured
 */
public record CacheFigure(String spec, double divergence, OptionalDouble speed) {
  public CacheFigure {
    if (!(divergence >= 0)) {
      throw new IllegalArgumentException(
          "the divergence of %s is %s; expected at least 0".formatted(spec, divergence));
    }
  }
}
