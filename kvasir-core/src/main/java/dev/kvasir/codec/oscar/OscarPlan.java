package dev.kvasir.codec.oscar;

import dev.kvasir.codec.CacheHost;
import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.basis.AsIs;
import dev.kvasir.codec.basis.BasisCodec;
import dev.kvasir.codec.basis.Clipping;
import dev.kvasir.codec.basis.LayerBasis;
import dev.kvasir.codec.basis.TokenScales;
import dev.kvasir.codec.uniform.UniformKeys;
import dev.kvasir.profile.Profile;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Rotated heads by token.
 *
 * @param spec as typed
 * @param clip what is left of ranges, as typed; empty for what the profile says
 */
record OscarPlan(String spec, UniformKeys keys, Optional<Clipping> clip) implements CachePlan {
  /** What rotations of a model are made of. */
  private record Origin(Profile profile, CacheShape shape) {}

  static OscarPlan of(SpecText spec) {
    UniformKeys keys = UniformKeys.of(spec, "clip");
    Optional<Clipping> clip =
        spec.has("clip")
            ? Optional.of(new Clipping((float) spec.fraction("clip", 1, 1)))
            : Optional.empty();
    return new OscarPlan(spec.text(), keys, clip);
  }

  /** Enough to foretell bytes. */
  @Override
  public CacheSettings settings(CacheShape shape) {
    return settings(shape, List.of(new LayerBasis(new AsIs(), new AsIs(), new Clipping(1))));
  }

  @Override
  public CacheSettings foretelling(CacheShape shape, CacheHost host) {
    return calibrated(host).isPresent() ? settings(shape, host) : settings(shape);
  }

  @Override
  public CacheSettings settings(CacheShape shape, CacheHost host) {
    Profile profile =
        calibrated(host).orElseThrow(() -> host.lacking(spec, "rotations", "make them", "oscar"));
    List<LayerBasis> layers =
        host.shared(
                new Origin(profile, shape),
                OscarProfile.class,
                () -> OscarProfile.of(profile, shape))
            .layers();
    return settings(shape, layers.stream().map(this::clipped).toList());
  }

  private LayerBasis clipped(LayerBasis layer) {
    return clip.map(own -> new LayerBasis(layer.keys(), layer.values(), own)).orElse(layer);
  }

  private CacheSettings settings(CacheShape shape, List<LayerBasis> layers) {
    return keys.settings(
        new BasisCodec(
            shape.kvHeads(), TokenScales.head(keys, shape), keys.lookups(), layers, keys.group()));
  }

  private static Optional<Profile> calibrated(CacheHost host) {
    return host.profileWith(OscarProfile.PART);
  }

  @Override
  public Set<String> profileParts() {
    return Set.of(OscarProfile.PART);
  }
}
