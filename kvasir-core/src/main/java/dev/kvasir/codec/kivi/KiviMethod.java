package dev.kvasir.codec.kivi;

import dev.kvasir.codec.BitWidthMethod;
import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerWidths;
import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.MethodFamily;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.uniform.UniformOptions;
import dev.kvasir.page.HeadShape;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** KIVI: uniform codes, with per-channel keys and per-token values. */
public final class KiviMethod extends BitWidthMethod {
  public KiviMethod() {
    super(
        "kivi",
        MethodFamily.GROUP_SCALES,
        KiviConfig::of,
        "kivi:1|2|3|4|8: k, v (bits), group (32|64|128),",
        "  widths (same|profile)");
  }

  @Override
  public boolean supportsOperandPrecision() {
    return true;
  }

  /**
   * Groups of 32 and a buffer of up to 128 keys. The paper keeps the last 128 values as well, where
   * this buffer holds as many values as keys.
   */
  @Override
  public Optional<String> paperSettings() {
    return Optional.of("group=32,sinks=0,window=0,prefill=exact");
  }

  @Override
  public List<MethodExample> examples() {
    return MethodExample.of(
        "kivi:8",
        "kivi:4",
        "kivi:3,group=64",
        "kivi:2",
        "kivi:2,group=32,window=0",
        "kivi:1,sinks=5",
        "kivi:2,k=4,v=1,window=40,sinks=16",
        "kivi:4,window=300,sinks=130",
        "kivi:2,sinks=256,operands=8",
        "kivi:3,k=4,group=32,window=0,sinks=5",
        "kivi:3,group=32,window=0,sinks=5",
        "kivi:4,sinks=130,operands=8");
  }

  /**
   * The configuration of uniform codes with per-channel keys and per-token values.
   *
   * @param spec the spec as typed
   * @param widths whether all layers have the bits of the spec
   */
  private record KiviConfig(String spec, UniformOptions options, LayerWidths.Source widths)
      implements QuantizationConfig {
    static KiviConfig of(SpecText spec) {
      UniformOptions options = UniformOptions.of(spec, "widths");
      return new KiviConfig(spec.text(), options, spec.choice("widths", LayerWidths.Source.SAME));
    }

    @Override
    public boolean supportsValuesInKeys() {
      return true;
    }

    @Override
    public CacheConfig cacheConfig(CacheShape shape) {
      return cacheConfig(shape, CacheContext.unknown());
    }

    @Override
    public CacheConfig estimationConfig(CacheShape shape, CacheContext context) {
      return cacheConfig(shape, context);
    }

    @Override
    public CacheConfig cacheConfig(CacheShape shape, CacheContext context) {
      if (widths == LayerWidths.Source.SAME) {
        return options.cacheConfig(
            new KiviCodec(shape.kvHeads(), options.head(shape), options.operandPrecision()));
      }
      int[] bits = LayerWidths.of(spec, context.profile(), shape.layers(), UniformOptions.BITS);
      List<HeadShape> heads =
          Arrays.stream(bits).mapToObj(width -> options.withBits(width).head(shape)).toList();
      return options.cacheConfig(new KiviCodec(shape.kvHeads(), heads, options.operandPrecision()));
    }

    @Override
    public Set<String> profileParts() {
      return widths == LayerWidths.Source.SAME ? Set.of() : Set.of(LayerWidths.PART);
    }
  }
}
