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
 * @param states recurrent states and their checkpoints
 */
public record CacheBytes(long codes, long scales, long window, long sinks, long tables, long states)
    implements Serializable {
  /** The bytes of a cache without recurrent states. */
  public CacheBytes(long codes, long scales, long window, long sinks, long tables) {
    this(codes, scales, window, sinks, tables, 0);
  }

  /** Returns the same bytes with those of recurrent states. */
  public CacheBytes withStates(long bytes) {
    return new CacheBytes(codes, scales, window, sinks, tables, bytes);
  }

  /** Returns the bytes of keys and values, which grow with the text. */
  public long keysAndValues() {
    return codes + scales + window + sinks + tables;
  }

  public long total() {
    return keysAndValues() + states;
  }
}
