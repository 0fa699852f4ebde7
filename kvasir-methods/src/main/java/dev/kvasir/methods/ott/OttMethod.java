package dev.kvasir.methods.ott;

import dev.kvasir.codec.BitWidthMethod;
import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.MethodFamily;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.uniform.UniformOptions;
import java.util.List;

/** The OTT method: KIVI codes, except for the few tokens with the smallest keys. */
public final class OttMethod extends BitWidthMethod {
  public OttMethod() {
    super(
        "ott",
        MethodFamily.GROUP_SCALES,
        OttConfig::of,
        "ott:1|2|3|4|8: outliers (1 to 16 of 128",
        "  tokens, kept as they are), k, v, group");
  }

  @Override
  public boolean supportsOperandPrecision() {
    return true;
  }

  @Override
  public List<MethodExample> examples() {
    return MethodExample.of("ott:2", "ott:2,window=40", "ott:2,k=3,group=32,outliers=2,sinks=5");
  }

  /**
   * Configuration of OTT: uniform codes, with outlier tokens left unquantized.
   *
   * @param outliers outlier tokens of each page and head
   */
  private record OttConfig(UniformOptions options, int outliers) implements QuantizationConfig {
    /** The paper's pool has as few for a whole sequence. */
    private static final int DEFAULT_OUTLIERS = 3;

    /**
     * Half of the smallest group, so that every outlier has a neighbour in its group that is not
     * one.
     */
    private static final int MAX_OUTLIERS = 16;

    static OttConfig of(SpecText spec) {
      UniformOptions options = UniformOptions.of(spec, "outliers");
      return new OttConfig(options, spec.between("outliers", DEFAULT_OUTLIERS, 1, MAX_OUTLIERS));
    }

    @Override
    public CacheConfig cacheConfig(CacheShape shape) {
      OutlierTokenLayout outlierLayout =
          new OutlierTokenLayout(
              shape.kvHeads(), outliers, shape.keyDim(), shape.valueDim(), options.group());
      return options.cacheConfig(
          new OttCodec(outlierLayout, options.head(shape), options.operandPrecision()));
    }
  }
}
