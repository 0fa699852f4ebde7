package dev.kvasir.methods.qserve;

import dev.kvasir.codec.BitWidthMethod;
import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.MethodFamily;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.basis.BasisCodec;
import dev.kvasir.codec.basis.Clipping;
import dev.kvasir.codec.basis.HeadBasis;
import dev.kvasir.codec.basis.IdentityBasis;
import dev.kvasir.codec.basis.LayerBasis;
import dev.kvasir.codec.basis.PerTokenScales;
import dev.kvasir.codec.basis.SmoothingFactors;
import dev.kvasir.codec.uniform.UniformOptions;
import dev.kvasir.page.HeadShape;
import java.util.List;
import java.util.Set;

/**
 * The KV-cache part of QServe: smooths keys by channel factors, then quantizes per token and head.
 */
public final class QserveMethod extends BitWidthMethod {
  public QserveMethod() {
    super(
        "qserve",
        MethodFamily.ROTATIONS,
        QserveConfig::of,
        "qserve:1|2|3|4|8: k, v (bits),",
        "  group (32|64|128), smoothing (on|off)");
  }

  @Override
  public boolean supportsOperandPrecision() {
    return true;
  }

  @Override
  public List<MethodExample> examples() {
    return MethodExample.of("qserve:4", "qserve:2,window=0", "qserve:4,sinks=5");
  }

  /**
   * Configuration of QServe: heads quantized per token, keys smoothed.
   *
   * @param smooths whether keys are divided by the profile's factors, if it has any
   */
  private record QserveConfig(UniformOptions options, boolean smooths)
      implements QuantizationConfig {
    static QserveConfig of(SpecText spec) {
      UniformOptions options = UniformOptions.of(spec, "smoothing");
      boolean wholeHeads = !spec.has("group");
      return new QserveConfig(
          wholeHeads ? options.withGroup(HeadShape.MAX_CHANNELS) : options, spec.isOn("smoothing"));
    }

    @Override
    public CacheConfig cacheConfig(CacheShape shape) {
      return cacheConfig(shape, CacheContext.unknown());
    }

    @Override
    public CacheConfig cacheConfig(CacheShape shape, CacheContext context) {
      List<SmoothingFactors> factors =
          smooths ? SmoothingFactors.of(context.profile(), shape) : List.of();
      List<? extends HeadBasis> bases = factors.isEmpty() ? List.of(new IdentityBasis()) : factors;
      return options.cacheConfig(
          new BasisCodec(
              shape.kvHeads(),
              PerTokenScales.head(options, shape),
              options.operandPrecision(),
              bases.stream()
                  .map(basis -> new LayerBasis(basis, new IdentityBasis(), new Clipping(1)))
                  .toList(),
              options.group()));
    }

    @Override
    public Set<String> profileParts() {
      return smooths ? Set.of(SmoothingFactors.PART) : Set.of();
    }
  }
}
