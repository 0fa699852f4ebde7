package dev.kvasir.codec.commvq;

import dev.kvasir.codec.CacheHost;
import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.SpecText;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.FixedRows;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.profile.Profile;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Sums of codebook rows, which the model's profile holds.
 *
 * @param spec as typed
 * @param bits for each channel, about
 * @param beam see {@link CommvqCodec}
 * @param reading the way to read keys, as typed {@code scores=}
 */
record CommvqPlan(String spec, int bits, int window, int sinks, int beam, KeyReading reading)
    implements CachePlan {
  static final SortedSet<Integer> BITS = new TreeSet<>(Set.of(1, 2, 3, 4));
  private static final int DEFAULT_WINDOW = 128;
  private static final int MOST_BEAM = 64;

  /** The first tokens hold much of the attention, and are unlike what codebooks were trained on. */
  private static final int DEFAULT_SINKS = 16;

  /** What codebooks depend on beside the profile. */
  private record Derived(int bits, Rotation rotation) {}

  static CommvqPlan of(SpecText spec) {
    spec.requireKeys("window", "sinks", "beam", "scores");
    int bits = spec.bits(BITS);
    return new CommvqPlan(
        spec.text(),
        bits,
        spec.tokens("window", DEFAULT_WINDOW),
        spec.tokens("sinks", DEFAULT_SINKS),
        spec.between("beam", defaultBeam(bits), 1, MOST_BEAM),
        spec.choice("scores", KeyReading.SUMS));
  }

  /** The search takes as long at every width: many stages need it less. */
  private static int defaultBeam(int bits) {
    return bits == 1 ? 4 : 2;
  }

  /** Enough to foretell bytes. */
  @Override
  public CacheSettings settings(CacheShape shape) {
    return settings(shape, CacheHost.unknown(), Optional.empty());
  }

  @Override
  public CacheSettings foretelling(CacheShape shape, CacheHost host) {
    return settings(shape, host, known(shape, host));
  }

  @Override
  public CacheSettings settings(CacheShape shape, CacheHost host) {
    if (host.rotation().isEmpty()) {
      throw new InvalidInputException(
          "the cache '%s' must know how keys are rotated; it needs a model".formatted(spec));
    }
    ModelCodebooks codebooks =
        known(shape, host).orElseThrow(() -> new InvalidInputException(missing(host)));
    return settings(shape, host, Optional.of(codebooks));
  }

  private CacheSettings settings(
      CacheShape shape, CacheHost host, Optional<ModelCodebooks> codebooks) {
    if (shape.headDim() % 2 != 0) {
      throw new InvalidInputException(
          "the cache '%s' codes channels in pairs; heads have %d channels"
              .formatted(spec, shape.headDim()));
    }
    int stages = CommvqProfile.stages(bits, shape.headDim());
    if (2 * stages > FixedRows.MOST_SETS) {
      throw new InvalidInputException(
          "the cache '%s' needs %d stages for heads of %d channels; at most %d can be added up"
              .formatted(spec, stages, shape.headDim(), FixedRows.MOST_SETS / 2));
    }
    CommvqShape pages = new CommvqShape(shape.kvHeads(), shape.headDim(), stages);
    CommvqCodec codec = new CommvqCodec(pages, codebooks, beam, reading, host.crew());
    return new CacheSettings(Precision.F16, sinks, window, Optional.of(codec));
  }

  private Optional<ModelCodebooks> known(CacheShape shape, CacheHost host) {
    Optional<Profile> profile = host.profile().filter(held -> held.has(CommvqProfile.part(bits)));
    return profile.flatMap(held -> host.rotation().map(turn -> codebooks(held, shape, turn)));
  }

  private ModelCodebooks codebooks(Profile profile, CacheShape shape, Rotation rotation) {
    return profile.derive(
        new Derived(bits, rotation),
        ModelCodebooks.class,
        held -> ModelCodebooks.of(CommvqProfile.of(held, bits, shape).layers(), rotation));
  }

  private String missing(CacheHost host) {
    String part = CommvqProfile.part(bits);
    String where =
        host.profile().map(profile -> " and %s holds none".formatted(profile.name())).orElse("");
    return ("the cache '%s' needs codebooks%s; train them with 'kvasir calibrate --kv %s --out"
            + " FILE' and give --profile FILE")
        .formatted(spec, where, part);
  }
}
