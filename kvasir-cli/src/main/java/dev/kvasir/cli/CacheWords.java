package dev.kvasir.cli;

/** What help says of a cache spec, wherever one can be typed. */
final class CacheWords {
  static final String METHODS =
      "How keys and values are kept: fp16, bf16, fp32, mixkvq, kivi:BITS or patternkv:BITS, with bits";
  static final String KEYS =
      "  1, 2, 3, 4, 8 and ,KEY=VALUE for k, v (bits), group (32, 64, 128), window, sinks";
  static final String LAST_KEYS =
      "  (tokens), lookup (exact, fast); patternkv: patterns, alpha, rope (static, rotate);";
  static final String MIX_KEYS =
      "  mixkvq: high, mid (thresholds; else the profile's), residual (128, 256, 384, 512),";
  static final String LAST_MIX_KEYS =
      "  salience (query, error), queries (window, sequence); or pmkvq:BITS, which shrinks to\n"
          + "  2, 4 or 8 bits within budget (512MiB, 4bits), with window, sinks, shrink (page, layer),\n"
          + "  keys (channel, token), shift (equivalent, direct, modified).";

  private CacheWords() {}
}
