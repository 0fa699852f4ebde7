package dev.kvasir.codec.commvq;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerRotations;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.Int8Codebooks;
import dev.kvasir.profile.Profile;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * The configuration of CommVQ, whose codebooks are in the model's profile.
 *
 * @param spec the spec as typed
 * @param bits approximate bits per channel
 * @param beam see {@link CommvqCodec}
 * @param keyScoring how attention scores keys, typed as {@code scores=}
 * @param values how values become codes
 */
public record CommvqConfig(
    String spec,
    int bits,
    int window,
    int sinks,
    int beam,
    KeyScoring keyScoring,
    ValueCoding values)
    implements QuantizationConfig {
  static final SortedSet<Integer> BITS = new TreeSet<>(Set.of(1, 2, 3, 4));
  private static final int DEFAULT_WINDOW = 128;
  private static final int MAX_BEAM = 64;

  /**
   * The first tokens receive much of the attention and are unlike the training data of codebooks.
   */
  private static final int DEFAULT_SINKS = 16;

  /** The inputs of codebooks, which identify them. */
  private record Origin(Profile profile, int bits, ValueCoding values, LayerRotations rotations) {}

  public static CommvqConfig of(SpecText spec) {
    spec.requireKeys("window", "sinks", "beam", "scores", "values");
    int bits = spec.bits(BITS);
    return new CommvqConfig(
        spec.text(),
        bits,
        spec.tokens("window", DEFAULT_WINDOW),
        spec.tokens("sinks", DEFAULT_SINKS),
        spec.between("beam", defaultBeam(bits), 1, MAX_BEAM),
        spec.choice("scores", KeyScoring.SUMS),
        spec.choice("values", ValueCoding.STAGES));
  }

  /** The search takes equally long at every bit width, and many stages need it less. */
  private static int defaultBeam(int bits) {
    return bits == 1 ? 4 : 2;
  }

  /** Returns a configuration for size estimates. */
  @Override
  public CacheConfig cacheConfig(CacheShape shape) {
    requireShape(shape);
    return cacheConfig(shape, CacheContext.unknown(), Optional.empty());
  }

  @Override
  public CacheConfig estimationConfig(CacheShape shape, CacheContext context) {
    requireShape(shape);
    return cacheConfig(shape, context, Optional.empty());
  }

  @Override
  public CacheConfig cacheConfig(CacheShape shape, CacheContext context) {
    requireShape(shape);
    context.requireRotations(spec);
    Origin origin =
        trained(context)
            .orElseThrow(
                () ->
                    context.missingCalibration(spec, "codebooks", "train them", values.part(bits)));
    ModelTables tables = context.requireTables(spec, "codebooks");
    return cacheConfig(shape, context, Optional.of(codebooks(tables, origin, shape)));
  }

  /**
   * Rejects unsupported shapes before codebooks are read, whose arrays grow with the square of a
   * head's channels.
   */
  private void requireShape(CacheShape shape) {
    if (shape.keyDim() % 2 != 0) {
      throw new InvalidInputException(
          "the cache '%s' codes channels in pairs; heads have %d channels"
              .formatted(spec, shape.keyDim()));
    }
    requireFewStages(shape.keyDim());
    requireFewStages(shape.valueDim());
  }

  private void requireFewStages(int channels) {
    int stages = CommvqProfile.stages(bits, channels);
    if (2 * stages > Int8Codebooks.MAX_SETS) {
      throw new InvalidInputException(
          "the cache '%s' needs %d stages for heads of %d channels; at most %d can be added up"
              .formatted(spec, stages, channels, Int8Codebooks.MAX_SETS / 2));
    }
  }

  private CacheConfig cacheConfig(
      CacheShape shape, CacheContext context, Optional<ModelCodebooks> codebooks) {
    Optional<Origin> trained = trained(context);
    CommvqShape pages =
        trained
            .map(origin -> values.shape(origin.profile, bits, shape))
            .orElseGet(() -> values.untrainedShape(bits, shape));
    long shared =
        trained
            .map(origin -> values.bytes(origin.profile, bits, shape, origin.rotations))
            .orElse(0L);
    CommvqCodec codec =
        new CommvqCodec(
            pages, codebooks, shared, beam, keyScoring, context.kernels(), context.workers());
    return new CacheConfig(Precision.F16, sinks, window, Optional.of(codec));
  }

  /** Returns the origin of codebooks for this bit width, if there are any. */
  private Optional<Origin> trained(CacheContext context) {
    return context
        .profileWith(values.part(bits))
        .flatMap(
            held ->
                context.rotations().map(rotations -> new Origin(held, bits, values, rotations)));
  }

  private ModelCodebooks codebooks(ModelTables tables, Origin origin, CacheShape shape) {
    return tables.cached(
        origin,
        ModelCodebooks.class,
        memory -> values.codebooks(origin.profile, bits, shape, origin.rotations, memory));
  }

  @Override
  public Set<String> profileParts() {
    return Set.of(values.part(bits));
  }
}
