package dev.kvasir.cli;

/** What help says of a cache spec, wherever one can be typed. */
final class CacheWords {
  static final String METHODS =
      "How keys and values are kept: fp16, bf16, fp32, or kivi:BITS[,KEY=VALUE...] with bits";
  static final String KEYS =
      "  1, 2, 3, 4, 8 and keys k, v (bits), group (32, 64, 128), window, sinks (tokens),";
  static final String LAST_KEYS = "  lookup (exact, fast).";

  private CacheWords() {}
}
