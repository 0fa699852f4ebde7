package dev.kvasir.codec.commvq;

import dev.kvasir.codec.CacheHost;
import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.ModelTables;
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
public record CommvqPlan(String spec, int bits, int window, int sinks, int beam, KeyReading reading)
    implements CachePlan {
  static final SortedSet<Integer> BITS = new TreeSet<>(Set.of(1, 2, 3, 4));
  private static final int DEFAULT_WINDOW = 128;
  private static final int MOST_BEAM = 64;

  /** The first tokens hold much of the attention, and are unlike what codebooks were trained on. */
  private static final int DEFAULT_SINKS = 16;

  /** What codebooks are made of. */
  private record Origin(Profile profile, int bits, Rotation rotation) {}

  public static CommvqPlan of(SpecText spec) {
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
    requireShape(shape);
    return settings(shape, CacheHost.unknown(), Optional.empty());
  }

  @Override
  public CacheSettings foretelling(CacheShape shape, CacheHost host) {
    requireShape(shape);
    trained(host).ifPresent(origin -> CommvqProfile.require(origin.profile, bits, shape));
    return settings(shape, host, Optional.empty());
  }

  @Override
  public CacheSettings settings(CacheShape shape, CacheHost host) {
    requireShape(shape);
    host.requireRotation(spec);
    Origin origin =
        trained(host)
            .orElseThrow(
                () -> host.lacking(spec, "codebooks", "train them", CommvqProfile.part(bits)));
    ModelTables tables = host.requireTables(spec, "codebooks");
    return settings(shape, host, Optional.of(codebooks(tables, origin, shape)));
  }

  /** Before codebooks are read: their arrays grow with the square of a head's channels. */
  private void requireShape(CacheShape shape) {
    if (shape.keyDim() % 2 != 0) {
      throw new InvalidInputException(
          "the cache '%s' codes channels in pairs; heads have %d channels"
              .formatted(spec, shape.keyDim()));
    }
    stages(shape.keyDim());
    stages(shape.valueDim());
  }

  private CacheSettings settings(
      CacheShape shape, CacheHost host, Optional<ModelCodebooks> codebooks) {
    CommvqShape pages =
        new CommvqShape(
            shape.kvHeads(),
            shape.keyDim(),
            stages(shape.keyDim()),
            shape.valueDim(),
            stages(shape.valueDim()));
    long shared =
        trained(host)
            .map(origin -> ModelCodebooks.bytesFor(shape.layers(), pages, origin.rotation))
            .orElse(0L);
    CommvqCodec codec =
        new CommvqCodec(pages, codebooks, shared, beam, reading, host.kernels(), host.crew());
    return new CacheSettings(Precision.F16, sinks, window, Optional.of(codec));
  }

  private int stages(int channels) {
    int stages = CommvqProfile.stages(bits, channels);
    if (2 * stages > FixedRows.MOST_SETS) {
      throw new InvalidInputException(
          "the cache '%s' needs %d stages for heads of %d channels; at most %d can be added up"
              .formatted(spec, stages, channels, FixedRows.MOST_SETS / 2));
    }
    return stages;
  }

  /** Where codebooks of that width come from, if there are any. */
  private Optional<Origin> trained(CacheHost host) {
    return host.profileWith(CommvqProfile.part(bits))
        .flatMap(held -> host.rotation().map(turn -> new Origin(held, bits, turn)));
  }

  private ModelCodebooks codebooks(ModelTables tables, Origin origin, CacheShape shape) {
    return tables.of(
        origin,
        ModelCodebooks.class,
        memory ->
            ModelCodebooks.of(
                CommvqProfile.of(origin.profile, bits, shape).layers(), origin.rotation, memory));
  }

  @Override
  public Set<String> profileParts() {
    return Set.of(CommvqProfile.part(bits));
  }
}
