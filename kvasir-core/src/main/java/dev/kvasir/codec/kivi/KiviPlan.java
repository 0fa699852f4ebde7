package dev.kvasir.codec.kivi;

import dev.kvasir.codec.CacheHost;
import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerWidths;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.uniform.UniformKeys;
import dev.kvasir.page.HeadShape;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * Uniform codes, keys by channel and values by token.
 *
 * @param spec as typed
 * @param widths whether all layers have the bits of the spec
 */
record KiviPlan(String spec, UniformKeys keys, LayerWidths.Source widths) implements CachePlan {
  static KiviPlan of(SpecText spec) {
    UniformKeys keys = UniformKeys.of(spec, "widths");
    return new KiviPlan(spec.text(), keys, spec.choice("widths", LayerWidths.Source.SAME));
  }

  @Override
  public boolean takesValuesInKeys() {
    return true;
  }

  @Override
  public CacheSettings settings(CacheShape shape) {
    return settings(shape, CacheHost.unknown());
  }

  @Override
  public CacheSettings foretelling(CacheShape shape, CacheHost host) {
    return settings(shape, host);
  }

  @Override
  public CacheSettings settings(CacheShape shape, CacheHost host) {
    if (widths == LayerWidths.Source.SAME) {
      return keys.settings(new KiviCodec(shape.kvHeads(), keys.head(shape), keys.lookups()));
    }
    int[] bits = LayerWidths.of(spec, host.profile(), shape.layers(), UniformKeys.BITS);
    List<HeadShape> heads =
        Arrays.stream(bits).mapToObj(width -> keys.withBits(width).head(shape)).toList();
    return keys.settings(new KiviCodec(shape.kvHeads(), heads, keys.lookups()));
  }

  @Override
  public Set<String> profileParts() {
    return widths == LayerWidths.Source.SAME ? Set.of() : Set.of(LayerWidths.PART);
  }
}
