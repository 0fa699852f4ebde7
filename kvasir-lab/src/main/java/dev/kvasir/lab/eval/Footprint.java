package dev.kvasir.lab.eval;

import dev.kvasir.cache.CacheBytes;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheShape;
import java.io.Serializable;

/**
 * The memory and speed of a row's cache at the end of the text, which has the same length for all
 * rows.
 *
 * @param tokens tokens in the cache
 * @param packedTokens quantized tokens among them
 * @param kvBytes allocated bytes of the cache
 * @param bitsPerValue allocated bits divided by the number of key and value elements
 * @param tokensPerSecond decoding speed after the text, measured in turn with other rows; {@code
 *     NaN} if not measured
 * @param parts the allocated bytes by purpose
 */
public record Footprint(
    int tokens,
    int packedTokens,
    long kvBytes,
    double bitsPerValue,
    double tokensPerSecond,
    CacheBytes parts)
    implements Serializable {

  /** Returns the footprint of a finished sequence. */
  static Footprint of(KvCache cache, CacheShape shape, double tokensPerSecond) {
    CacheBytes parts = cache.bytes();
    long bytes = parts.total();
    double values = shape.valuesInWindows(cache.length());
    return new Footprint(
        cache.length(),
        packedTokens(cache, shape),
        bytes,
        8.0 * bytes / values,
        tokensPerSecond,
        parts);
  }

  /** Returns the mean over layers; some layers hold a sliding window only. */
  private static int packedTokens(KvCache cache, CacheShape shape) {
    long pages = 0;
    for (int layer = 0; layer < shape.layers(); layer++) {
      int block = cache.blockOf(cache.firstRetained(layer));
      for (; cache.firstPosition(block) < cache.length(); block++) {
        pages += cache.view(layer, block).page() == null ? 0 : 1;
      }
    }
    return (int) (pages * KvCache.TOKENS_PER_PAGE / shape.layers());
  }

  /** Returns the same footprint with another speed. */
  Footprint withSpeed(double value) {
    return new Footprint(tokens, packedTokens, kvBytes, bitsPerValue, value, parts);
  }

  public boolean hasSpeed() {
    return !Double.isNaN(tokensPerSecond);
  }

  /** Returns the bits of a quantized element with all overheads, the limit for long texts. */
  public double quantizedBitsPerValue(CacheShape shape) {
    return 8.0 * (parts.codes() + parts.scales()) / packedTokens / shape.valuesPerToken();
  }
}
