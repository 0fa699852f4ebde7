package dev.kvasir.cli;

/** What help says of a cache spec, wherever one can be typed. */
final class CacheWords {
  static final String METHODS =
      "How keys and values are kept: fp16, bf16, fp32, kivi:BITS, patternkv:BITS with bits";
  static final String KEYS =
      "  1, 2, 3, 4, 8 and ,KEY=VALUE for k, v (bits), group (32, 64, 128), window, sinks";
  static final String LAST_KEYS =
      "  (tokens), lookup (exact, fast); patternkv: patterns, alpha, rope (static, rotate); or\n"
          + "  pmkvq:BITS, which shrinks to 2, 4 or 8 bits within budget (512MiB, 4bits), with window,\n"
          + "  sinks, shift (equivalent, direct, modified).";

  private CacheWords() {}
}
