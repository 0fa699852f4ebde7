package dev.kvasir.methods.vqllm;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.profile.Profile;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Configuration of VQLLM. The codebooks come from the model's profile.
 *
 * @param spec the spec as typed
 * @param bits bits of a channel
 */
record VqllmConfig(String spec, int bits, int window, int sinks) implements QuantizationConfig {
  private static final SortedSet<Integer> BITS = new TreeSet<>(Set.of(1, 2));
  private static final int DEFAULT_WINDOW = 128;

  /** Key under which a model's codebooks are shared. */
  private record CodebooksKey(Profile profile, CacheShape shape) {}

  static VqllmConfig of(SpecText spec) {
    spec.requireKeys("window", "sinks");
    return new VqllmConfig(
        spec.text(),
        spec.bits(BITS),
        spec.tokens("window", DEFAULT_WINDOW),
        spec.tokens("sinks", 0));
  }

  /** Returns the number of stages: each takes a byte per group. */
  private int stages() {
    return bits * ChannelGroups.CHANNELS / Byte.SIZE;
  }

  /** Returns a configuration without codebooks, which is enough to estimate bytes. */
  @Override
  public CacheConfig cacheConfig(CacheShape shape) {
    shape.requireEvenKeyDim(spec);
    return cacheConfig(VqllmCodec.forEstimate(shape, stages()));
  }

  @Override
  public CacheConfig estimationConfig(CacheShape shape, CacheContext context) {
    return trainedProfile(context).isPresent() && context.rotation().isPresent()
        ? cacheConfig(shape, context)
        : cacheConfig(shape);
  }

  @Override
  public CacheConfig cacheConfig(CacheShape shape, CacheContext context) {
    shape.requireEvenKeyDim(spec);
    Rotation rotation = context.requireRotation(spec);
    Profile profile =
        trainedProfile(context)
            .orElseThrow(
                () -> context.missingCalibration(spec, "codebooks", "train them", "vqllm"));
    List<LayerResidualCodebooks> codebooks =
        context
            .shared(
                new CodebooksKey(profile, shape),
                VqllmProfile.class,
                () -> VqllmProfile.of(profile, shape))
            .layers();
    return cacheConfig(
        VqllmCodec.of(
            shape,
            stages(),
            codebooks,
            new KeyRotation(rotation, shape.keyDim()),
            context.kernels()));
  }

  private CacheConfig cacheConfig(VqllmCodec codec) {
    return new CacheConfig(Precision.F16, sinks, window, Optional.of(codec));
  }

  private static Optional<Profile> trainedProfile(CacheContext context) {
    return context.profileWith(VqllmProfile.PART);
  }

  @Override
  public Set<String> profileParts() {
    return Set.of(VqllmProfile.PART);
  }
}
