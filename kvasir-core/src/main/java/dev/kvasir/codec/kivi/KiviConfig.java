package dev.kvasir.codec.kivi;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerWidths;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.uniform.UniformOptions;
import dev.kvasir.page.HeadShape;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * The configuration of uniform codes with per-channel keys and per-token values.
 *
 * @param spec the spec as typed
 * @param widths whether all layers have the bits of the spec
 */
record KiviConfig(String spec, UniformOptions options, LayerWidths.Source widths)
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
