package dev.kvasir.cache;

import java.io.Serializable;

/**
 * What a cache has allocated, by what it is for.
 *
 * @param codes packed codes of sealed pages
 * @param scales their scales and zero points, and which channel is where
 * @param window vectors in full precision: the recent tokens and the block being filled
 * @param sinks the first tokens, in full precision
 * @param tables what a method keeps beside pages
 */
public record CacheBytes(long codes, long scales, long window, long sinks, long tables)
    implements Serializable {
  public long total() {
    return codes + scales + window + sinks + tables;
  }
}
