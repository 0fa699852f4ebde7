package dev.kvasir.codec.qserve;

import dev.kvasir.codec.CacheHost;
import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.basis.AsIs;
import dev.kvasir.codec.basis.BasisCodec;
import dev.kvasir.codec.basis.Clipping;
import dev.kvasir.codec.basis.HeadBasis;
import dev.kvasir.codec.basis.LayerBasis;
import dev.kvasir.codec.basis.Smoothing;
import dev.kvasir.codec.basis.TokenScales;
import dev.kvasir.codec.uniform.UniformKeys;
import dev.kvasir.page.HeadShape;
import java.util.List;
import java.util.Set;

/**
 * Heads by token, keys divided by factors.
 *
 * @param smooths whether keys are divided by the profile's factors, where it has any
 */
record QservePlan(UniformKeys keys, boolean smooths) implements CachePlan {
  static QservePlan of(SpecText spec) {
    UniformKeys keys = UniformKeys.of(spec, "smoothing");
    boolean wholeHeads = !spec.has("group");
    return new QservePlan(
        wholeHeads ? keys.withGroup(HeadShape.MOST_CHANNELS) : keys, spec.isOn("smoothing"));
  }

  @Override
  public CacheSettings settings(CacheShape shape) {
    return settings(shape, CacheHost.unknown());
  }

  @Override
  public CacheSettings settings(CacheShape shape, CacheHost host) {
    List<Smoothing> factors = smooths ? Smoothing.of(host.profile(), shape) : List.of();
    List<? extends HeadBasis> bases = factors.isEmpty() ? List.of(new AsIs()) : factors;
    return keys.settings(
        new BasisCodec(
            shape.kvHeads(),
            TokenScales.head(keys, shape),
            keys.lookups(),
            bases.stream()
                .map(basis -> new LayerBasis(basis, new AsIs(), new Clipping(1)))
                .toList(),
            keys.group()));
  }

  @Override
  public Set<String> profileParts() {
    return smooths ? Set.of(Smoothing.PART) : Set.of();
  }
}
