package dev.kvasir.methods.kvarn;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.uniform.UniformOptions;

/**
 * Configuration of KVarN: variance-normalized heads, keys quantized per channel and values per
 * token.
 *
 * @param rounds maximum number of normalization rounds
 */
record KvarnConfig(UniformOptions options, int rounds) implements QuantizationConfig {
  /** Number of rounds in the published code. */
  private static final int DEFAULT_ROUNDS = 16;

  private static final int MAX_ROUNDS = 1000;

  static KvarnConfig of(SpecText spec) {
    UniformOptions options = UniformOptions.of(spec, "rounds");
    return new KvarnConfig(options, spec.between("rounds", DEFAULT_ROUNDS, 0, MAX_ROUNDS));
  }

  @Override
  public CacheConfig cacheConfig(CacheShape shape) {
    return options.cacheConfig(
        new KvarnCodec(
            shape.kvHeads(),
            options.head(shape),
            options.operandPrecision(),
            new VarianceNormalizer(rounds)));
  }
}
