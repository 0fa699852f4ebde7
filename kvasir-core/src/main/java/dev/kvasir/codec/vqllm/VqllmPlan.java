package dev.kvasir.codec.vqllm;

import dev.kvasir.codec.CacheHost;
import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.SpecText;
import dev.kvasir.error.InvalidInputException;
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
    requireShape(shape);
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
    requireShape(shape);
    Rotation rotation =
        host.rotation()
            .orElseThrow(
                () ->
                    new InvalidInputException(
                        "the cache '%s' must know how keys are rotated; it needs a model whose"
                                .formatted(spec)
                            + " layers all rotate them alike"));
    Profile profile = trained(host).orElseThrow(() -> new InvalidInputException(missing(host)));
    List<LayerBooks> books =
        host.tables()
            .map(
                shared ->
                    shared.of(
                        new Origin(profile, shape),
                        VqllmProfile.class,
                        memory -> VqllmProfile.of(profile, shape)))
            .orElseGet(() -> VqllmProfile.of(profile, shape))
            .layers();
    return settings(
        VqllmCodec.of(
            shape, stages(), books, new KeyTurns(rotation, shape.keyDim()), host.kernels()));
  }

  private void requireShape(CacheShape shape) {
    if (shape.keyDim() % 2 != 0) {
      throw new InvalidInputException(
          "the cache '%s' turns channels in pairs; heads have %d channels"
              .formatted(spec, shape.keyDim()));
    }
  }

  private CacheSettings settings(VqllmCodec codec) {
    return new CacheSettings(Precision.F16, sinks, window, Optional.of(codec));
  }

  private static Optional<Profile> trained(CacheHost host) {
    return host.profile().filter(held -> held.has(VqllmProfile.PART));
  }

  private String missing(CacheHost host) {
    String where =
        host.profile().map(profile -> " and %s holds none".formatted(profile.name())).orElse("");
    return ("the cache '%s' needs codebooks%s; train them with 'kvasir calibrate --kv vqllm --out"
            + " FILE' and give --profile FILE")
        .formatted(spec, where);
  }

  @Override
  public Set<String> profileParts() {
    return Set.of(VqllmProfile.PART);
  }
}
