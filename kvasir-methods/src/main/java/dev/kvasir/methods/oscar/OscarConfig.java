package dev.kvasir.methods.oscar;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.basis.BasisCodec;
import dev.kvasir.codec.basis.Clipping;
import dev.kvasir.codec.basis.IdentityBasis;
import dev.kvasir.codec.basis.LayerBasis;
import dev.kvasir.codec.basis.PerTokenScales;
import dev.kvasir.codec.uniform.UniformOptions;
import dev.kvasir.profile.Profile;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Configuration of OSCAR: rotated heads, quantized per token.
 *
 * @param spec the spec as typed
 * @param clip fraction of each range that is kept, as typed; empty to use the profile's
 */
record OscarConfig(String spec, UniformOptions options, Optional<Clipping> clip)
    implements QuantizationConfig {
  /** Key under which a model's rotations are shared. */
  private record RotationsKey(Profile profile, CacheShape shape) {}

  static OscarConfig of(SpecText spec) {
    UniformOptions options = UniformOptions.of(spec, "clip");
    Optional<Clipping> clip =
        spec.has("clip")
            ? Optional.of(new Clipping((float) spec.fraction("clip", 1, 1)))
            : Optional.empty();
    return new OscarConfig(spec.text(), options, clip);
  }

  /** Returns a configuration without rotations, which is enough to estimate bytes. */
  @Override
  public CacheConfig cacheConfig(CacheShape shape) {
    return cacheConfig(
        shape, List.of(new LayerBasis(new IdentityBasis(), new IdentityBasis(), new Clipping(1))));
  }

  @Override
  public CacheConfig estimationConfig(CacheShape shape, CacheContext context) {
    return calibratedProfile(context).isPresent()
        ? cacheConfig(shape, context)
        : cacheConfig(shape);
  }

  @Override
  public CacheConfig cacheConfig(CacheShape shape, CacheContext context) {
    Profile profile =
        calibratedProfile(context)
            .orElseThrow(() -> context.missingCalibration(spec, "rotations", "make them", "oscar"));
    List<LayerBasis> layers =
        context
            .shared(
                new RotationsKey(profile, shape),
                OscarProfile.class,
                () -> OscarProfile.of(profile, shape))
            .layers();
    return cacheConfig(shape, layers.stream().map(this::clipped).toList());
  }

  private LayerBasis clipped(LayerBasis layer) {
    return clip.map(own -> new LayerBasis(layer.keys(), layer.values(), own)).orElse(layer);
  }

  private CacheConfig cacheConfig(CacheShape shape, List<LayerBasis> layers) {
    return options.cacheConfig(
        new BasisCodec(
            shape.kvHeads(),
            PerTokenScales.head(options, shape),
            options.operandPrecision(),
            layers,
            options.group()));
  }

  private static Optional<Profile> calibratedProfile(CacheContext context) {
    return context.profileWith(OscarProfile.PART);
  }

  @Override
  public Set<String> profileParts() {
    return Set.of(OscarProfile.PART);
  }
}
