package dev.kvasir.methods.kvarn;

import dev.kvasir.codec.BitWidthMethod;
import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.MethodExample.Trait;
import dev.kvasir.codec.MethodFamily;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.uniform.UniformOptions;
import java.util.EnumSet;
import java.util.List;

/**
 * The KVarN method: rotates heads, then normalizes the variance of tokens and channels before
 * quantization.
 */
public final class KvarnMethod extends BitWidthMethod {
  public KvarnMethod() {
    super(
        "kvarn",
        MethodFamily.ROTATIONS,
        KvarnConfig::of,
        "kvarn:1|2|3|4|8: k, v (bits),",
        "  group (32|64|128), rounds");
  }

  @Override
  public boolean supportsOperandPrecision() {
    return true;
  }

  @Override
  public List<MethodExample> examples() {
    return MethodExample.of(
        EnumSet.of(Trait.ALTERS_CONSTANTS),
        "kvarn:2,sinks=5",
        "kvarn:3,group=32,window=0",
        "kvarn:2,rounds=2");
  }

  /**
   * Configuration of KVarN: variance-normalized heads, keys quantized per channel and values per
   * token.
   *
   * @param rounds maximum number of normalization rounds
   */
  private record KvarnConfig(UniformOptions options, int rounds) implements QuantizationConfig {
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
}
