package dev.kvasir.lab.eval;

import dev.kvasir.cache.CacheBytes;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheShape;
import java.io.Serializable;

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
    CacheBytes parts)
    implements Serializable {

  /** Of a sequence at its end. */
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

  /** Of a layer, on the average: some hold a window alone. */
  private static int packedTokens(KvCache cache, CacheShape shape) {
    long pages = 0;
    for (int block = 0; cache.firstPosition(block) < cache.length(); block++) {
      for (int layer = 0; layer < shape.layers(); layer++) {
        pages += cache.page(layer, block) == null ? 0 : 1;
      }
    }
    return (int) (pages * KvCache.TOKENS_PER_PAGE / shape.layers());
  }

  public boolean hasSpeed() {
    return !Double.isNaN(tokensPerSecond);
  }

  /** Bits of a value that is packed, all-in: where the length of a text goes. */
  public double quantizedBitsPerValue(CacheShape shape) {
    return 8.0 * (parts.codes() + parts.scales()) / packedTokens / shape.valuesPerToken();
  }
}
