package dev.kvasir.cli;

/** What help says of a cache spec, wherever one can be typed. */
final class CacheWords {
  static final String METHODS =
      "How keys and values are kept: fp16, bf16, fp32, kivi:BITS or patternkv:BITS, with bits";
  static final String KEYS =
      "  1, 2, 3, 4, 8 and ,KEY=VALUE for k, v (bits), group (32, 64, 128), window, sinks";
  static final String LAST_KEYS =
      "  (tokens), lookup (exact, fast); patternkv: patterns, alpha, rope (static, rotate).";

  private CacheWords() {}
}
