package dev.kvasir;

import dev.kvasir.cache.CacheSpec;

/**
 * How keys and values are stored: a method, its bits and its settings. Specs are immutable; each
 * setting returns a new one and is checked at once.
 *
 * <pre>{@code
 * KvCacheSpec.kivi(2).window(128)       // the same as parse("kivi:2,window=128")
 * KvCacheSpec.parse("patternkv:2,patterns=64")
 * }</pre>
 *
 * <p>This interface is implemented by Kvasir only.
 */
public interface KvCacheSpec {
  /**
   * Parses {@code name[:bits][,key=value...]}, as {@code --kv} takes it.
   *
   * @throws KvasirException if there is no such method, key or value
   */
  static KvCacheSpec parse(String text) {
    return CacheSpec.parse(text);
  }

  /** Returns half precision, which loses nothing and needs 16 bits per value. */
  static KvCacheSpec fp16() {
    return parse("fp16");
  }

  /**
   * Returns KIVI: keys by channel, values by token; needs no calibration.
   *
   * @param bits 1, 2, 3, 4 or 8
   */
  static KvCacheSpec kivi(int bits) {
    return parse("kivi:" + bits);
  }

  /**
   * Returns PatternKV: KIVI on the differences from patterns of the text itself.
   *
   * @param bits 1, 2, 3, 4 or 8
   */
  static KvCacheSpec patternkv(int bits) {
    return parse("patternkv:" + bits);
  }

  /**
   * Returns PM-KVQ: precision that falls as the text grows. It needs a {@code budget}, as in {@code
   * pmkvq(2, "512MiB")}.
   *
   * @param bits the fewest bits: 2, 4 or 8
   * @param budget bytes of a sequence such as {@code 512MiB}, or {@code 4bits} per value
   */
  static KvCacheSpec pmkvq(int bits, String budget) {
    return parse("pmkvq:%d,budget=%s".formatted(bits, budget));
  }

  /** Returns MixKVQ: key channels in two, four or sixteen bits by their effect on attention. */
  static KvCacheSpec mixkvq() {
    return parse("mixkvq");
  }

  /**
   * Returns CommVQ: additive codebooks that commute with rotary embedding, from the profile.
   *
   * @param bits 1, 2, 3 or 4
   */
  static KvCacheSpec commvq(int bits) {
    return parse("commvq:" + bits);
  }

  /**
   * Returns mead, the method of Kvasir, which needs the profile of the model.
   *
   * @param bits 0.75 to 8, also fractions such as 1.5
   */
  static KvCacheSpec mead(double bits) {
    return parse("mead:" + (bits == Math.rint(bits) ? "%.0f".formatted(bits) : bits));
  }

  /** Returns the spec as text, which {@link #parse} accepts. */
  String text();

  /**
   * Returns this spec with a setting of its method, replacing an earlier value.
   *
   * @throws KvasirException if the method has no such key or value
   */
  KvCacheSpec with(String key, Object value);

  /** Keeps the last tokens in full precision. */
  default KvCacheSpec window(int tokens) {
    return with("window", tokens);
  }

  /** Keeps the first tokens in full precision. */
  default KvCacheSpec sinks(int tokens) {
    return with("sinks", tokens);
  }

  /** Sets how many values share a scale. */
  default KvCacheSpec group(int values) {
    return with("group", values);
  }
}
