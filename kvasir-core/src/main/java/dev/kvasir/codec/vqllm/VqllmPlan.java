package dev.kvasir.codec.vqllm;

import dev.kvasir.codec.CacheHost;
import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
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
 * Sums of codebook rows, which the model's profile holds.
 *
 * @param spec as typed
 * @param bits of a channel
 */
record VqllmPlan(String spec, int bits, int window, int sinks) implements CachePlan {
  private static final SortedSet<Integer> BITS = new TreeSet<>(Set.of(1, 2));
  private static final int DEFAULT_WINDOW = 128;

  /** What codebooks are made of. */
  private record Origin(Profile profile, CacheShape shape) {}

  static VqllmPlan of(SpecText spec) {
    spec.requireKeys("window", "sinks");
    return new VqllmPlan(
        spec.text(),
        spec.bits(BITS),
        spec.tokens("window", DEFAULT_WINDOW),
        spec.tokens("sinks", 0));
  }

  /** A byte for each stage and group. */
  private int stages() {
    return bits * ChannelGroups.CHANNELS / Byte.SIZE;
  }

  /** Enough to foretell bytes. */
  @Override
  public CacheSettings settings(CacheShape shape) {
    shape.requirePairs(spec);
    return settings(VqllmCodec.ofSizes(shape, stages()));
  }

  @Override
  public CacheSettings foretelling(CacheShape shape, CacheHost host) {
    return trained(host).isPresent() && host.rotation().isPresent()
        ? settings(shape, host)
        : settings(shape);
  }

  @Override
  public CacheSettings settings(CacheShape shape, CacheHost host) {
    shape.requirePairs(spec);
    Rotation rotation = host.requireRotation(spec);
    Profile profile =
        trained(host).orElseThrow(() -> host.lacking(spec, "codebooks", "train them", "vqllm"));
    List<LayerBooks> books =
        host.shared(
                new Origin(profile, shape),
                VqllmProfile.class,
                () -> VqllmProfile.of(profile, shape))
            .layers();
    return settings(
        VqllmCodec.of(
            shape, stages(), books, new KeyTurns(rotation, shape.keyDim()), host.kernels()));
  }

  private CacheSettings settings(VqllmCodec codec) {
    return new CacheSettings(Precision.F16, sinks, window, Optional.of(codec));
  }

  private static Optional<Profile> trained(CacheHost host) {
    return host.profileWith(VqllmProfile.PART);
  }

  @Override
  public Set<String> profileParts() {
    return Set.of(VqllmProfile.PART);
  }
}
