package dev.kvasir.cache;

import java.io.Serializable;

/**
 * The allocated bytes of a cache, by purpose.
 *
 * @param codes packed codes of quantized pages
 * @param scales their scales, zero points and channel orders
 * @param window vectors in full precision: the residual window and the block being filled
 * @param sinks attention sinks, in full precision
 * @param tables a method's data outside of pages
 */
public record CacheBytes(long codes, long scales, long window, long sinks, long tables)
    implements Serializable {
  public long total() {
    return codes + scales + window + sinks + tables;
  }
}
