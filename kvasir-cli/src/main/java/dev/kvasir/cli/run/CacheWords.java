package dev.kvasir.cli.run;

/** What help says of a cache spec, wherever one can be typed. */
final class CacheWords {
  /** Lines that fit beside an option in 80 columns. */
  static final String METHODS =
      """
      How keys and values are kept: METHOD:BITS, and
        keys of the method, as in kivi:2,group=64.
        fp16, bf16, fp32: not packed
        kivi:1|2|3|4|8: k, v (bits), group (32|64|128),
          widths (same|profile)
        patternkv:1|2|3|4|8: k, v, group, patterns,
          alpha, rope (rotate|static)
        mixkvq: high, mid (thresholds; else those of
          the profile), group, residual (128|256|384|
          512), salience (query|error)
        pmkvq:2|4|8: budget (512MiB, 4bits), shrink
          (page|layer), keys (channel|token), widths,
          shift (equivalent|modified|direct)
        commvq:1|2|3|4: beam; with codebooks of the
          profile
        All that pack: window, sinks (tokens). All of
          these but commvq: lookup (exact|fast).""";

  private CacheWords() {}
}
