package dev.kvasir.lab.eval;

import dev.kvasir.cache.CacheBytes;
import dev.kvasir.codec.CacheShape;

/**
 * What a row's cache took at the end of the text, which all rows read to the same length.
 *
 * @param tokens that it held
 * @param packedTokens those of them that were packed
 * @param kvBytes all that its cache had allocated
 * @param bitsPerValue those bytes, spread over the values of its keys and values
 * @param tokensPerSecond speed of generating after it, rows taking turns; {@code NaN} where it was
 *     not measured
 * @param parts the same bytes by what they are for
 */
public record Footprint(
    int tokens,
    int packedTokens,
    long kvBytes,
    double bitsPerValue,
    double tokensPerSecond,
    CacheBytes parts) {

  public boolean hasSpeed() {
    return !Double.isNaN(tokensPerSecond);
  }

  /** Bits of a value that is packed, all-in: where the length of a text goes. */
  public double packedBitsPerValue(CacheShape shape) {
    return 8.0 * (parts.codes() + parts.scales()) / packedTokens / shape.valuesPerToken();
  }
}
