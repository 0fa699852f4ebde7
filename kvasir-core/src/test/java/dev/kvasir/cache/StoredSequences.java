package dev.kvasir.cache;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerSensitivities;
import dev.kvasir.codec.LayerSensitivities.KeyScales;
import dev.kvasir.codec.LayerWidths;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.QuantizedSequence;
import dev.kvasir.codec.QuantizedSequence.SequenceSnapshot;
import dev.kvasir.codec.SyntheticProfileParts;
import dev.kvasir.codec.ValueOrigin;
import dev.kvasir.codec.commvq.SyntheticCodebooks;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeFrequencies;
import dev.kvasir.model.RopeLayout;
import dev.kvasir.profile.Profile;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** Sequences of every quantizing method, to be stored. */
final class StoredSequences {
  static final CacheShape SHAPE = new CacheShape(2, 2, 20);

  /** Created once for all tests and never freed. */
  private static final Map<CacheShape, CacheContext> CONTEXTS = new ConcurrentHashMap<>();

  private static final Map<ShapedSpec, SequenceSnapshot> STORED = new ConcurrentHashMap<>();

  /** Values narrower than keys. */
  private static final CacheShape TWO_WIDTHS = new CacheShape(2, 2, 24, 12);

  /** Values that are the first channels of keys. */
  private static final CacheShape LATENT = new CacheShape(2, 1, 36, 28, ValueOrigin.IN_KEYS);

  /** More channels than a byte of a channel order can number. */
  private static final CacheShape LARGE =
      new CacheShape(2, 1, 272, ContractSpecs.THOROUGH ? 256 : 32);

  /** Maximum length of sequences whose budget depends on it. */
  private static final int LONGEST = 1200;

  private StoredSequences() {}

  /** Returns the arenas that are never freed. */
  static int tables() {
    return CONTEXTS.size();
  }

  /** Returns the bytes that are never freed. */
  static long tableBytes() {
    return CONTEXTS.values().stream()
        .mapToLong(context -> context.tables().orElseThrow().bytes())
        .sum();
  }

  /** All quantizing specs, including those that need a profile. */
  static Stream<String> specs() {
    return Stream.concat(
        ContractSpecs.specs().filter(spec -> quantizes(new ShapedSpec(SHAPE, spec))),
        Stream.of(
            "kivi:2,widths=profile",
            "pmkvq:2,budget=1MiB,keys=token,smoothing=off",
            "pmkvq:2,budget=1MiB,widths=profile",
            "pmkvq:2,budget=1MiB,widths=budget",
            "commvq:2,scores=decoded",
            "mead:2,classes=attention,first=coded",
            "mead:2.5,budget=210KiB",
            "mead:2,profile=none"));
  }

  /** The same, and some of every method on heads of other shapes. */
  static Stream<ShapedSpec> kinds() {
    return Stream.of(
            specs().map(spec -> new ShapedSpec(SHAPE, spec)),
            ContractSpecs.fewSpecs().map(spec -> new ShapedSpec(TWO_WIDTHS, spec)),
            ContractSpecs.quickSpecs().map(spec -> new ShapedSpec(LARGE, spec)),
            ContractSpecs.latentSpecs().map(spec -> new ShapedSpec(LATENT, spec)))
        .flatMap(some -> some)
        .filter(StoredSequences::quantizes);
  }

  /**
   * What a sequence has learned does not depend on the width of heads, so {@code
   * -Dkvasir.thorough=true} alone tries all. Excludes methods that search codes for seconds per
   * page, independently of other pages.
   */
  static Stream<ShapedSpec> kindsOfOneWidth() {
    return kinds()
        .filter(ContractSpecs::quantizesQuickly)
        .filter(
            kind ->
                ContractSpecs.THOROUGH
                    || kind.shape().equals(SHAPE)
                    || kind.shape().equals(LATENT));
  }

  /** Returns whether tokens change a sequence before they are quantized. */
  static boolean observesQueries(ShapedSpec kind) {
    try (QuantizedSequence sequence = begin(kind)) {
      return sequence.codec().observesQueries();
    }
  }

  private static boolean quantizes(ShapedSpec kind) {
    return codec(kind.spec(), kind.shape(), context(kind.shape())).isPresent();
  }

  static PageCodec method(ShapedSpec kind) {
    return method(kind.spec(), kind.shape());
  }

  static PageCodec method(String spec) {
    return method(spec, SHAPE);
  }

  static PageCodec method(String spec, CacheShape shape) {
    return codec(spec, shape, context(shape)).orElseThrow();
  }

  private static Optional<PageCodec> codec(String spec, CacheShape shape, CacheContext context) {
    return CacheSpec.parse(spec).configFor(shape).cacheConfig(shape, context).codec();
  }

  private static CacheContext context(CacheShape shape) {
    return CONTEXTS.computeIfAbsent(shape, StoredSequences::newContext);
  }

  private static CacheContext newContext(CacheShape shape) {
    int channels = shape.layers() * shape.kvHeads() * shape.keyDim();
    float[] factors = new float[channels];
    for (int i = 0; i < channels; i++) {
      factors[i] = 0.5f + i % 7;
    }
    float[] sensitivities = new float[2 * shape.layers() * LayerSensitivities.WIDTHS.size()];
    sensitivities[0] = 1;
    float[] widths = new float[shape.layers()];
    Arrays.fill(widths, 2);
    widths[0] = 4;
    Profile profile =
        SyntheticProfileParts.addTo(SyntheticCodebooks.profile(shape, 1, 2), shape)
            .with("pmkvq/smoothing", factors, shape.layers(), shape.kvHeads(), shape.keyDim())
            .with(LayerWidths.KEY, widths, shape.layers());
    return CacheContext.unknown()
        .withContextLimit(LONGEST)
        .withQueryHeads(shape.kvHeads())
        .withTables(Optional.of(new ModelTables()))
        .withRotation(
            Optional.of(new Rope(RopeLayout.HALVES, RopeFrequencies.unscaled(10_000, 16))))
        .withProfile(
            Optional.of(
                new LayerSensitivities(shape.layers(), sensitivities)
                    .addNextTo(profile, KeyScales.CHANNEL, KeyScales.CHANNEL.note())));
  }

  static QuantizedSequence begin(String spec) {
    return begin(new ShapedSpec(SHAPE, spec));
  }

  static QuantizedSequence begin(ShapedSpec kind) {
    return QuantizedSequence.begin(kind.shape(), method(kind));
  }

  /** Quantizes long and short runs of blocks, and requantizes pages. */
  static QuantizedSequence filled(String spec) {
    return filled(new ShapedSpec(SHAPE, spec));
  }

  static QuantizedSequence filled(ShapedSpec kind) {
    QuantizedSequence sequence = begin(kind);
    sequence.grow(2);
    sequence.grow(1);
    sequence.requantize();
    sequence.grow(1);
    return sequence;
  }

  /** Returns the serialized form of a filled sequence. */
  static SequenceSnapshot stored(ShapedSpec kind) {
    return STORED.computeIfAbsent(
        kind,
        any -> {
          try (QuantizedSequence sequence = filled(kind)) {
            return sequence.snapshot();
          }
        });
  }

  static QuantizedSequence resume(ShapedSpec kind, SequenceSnapshot stored) {
    return QuantizedSequence.resume(kind.shape(), method(kind), stored);
  }

  static void assertSameBytes(SequenceSnapshot found, SequenceSnapshot expected) {
    assertThat(found.state()).isEqualTo(expected.state());
    assertThat(found.blocks()).hasSameSizeAs(expected.blocks());
    for (int block = 0; block < expected.blocks().size(); block++) {
      for (int layer = 0; layer < expected.blocks().get(block).size(); layer++) {
        assertThat(found.blocks().get(block).get(layer))
            .as("block %d of layer %d", block, layer)
            .isEqualTo(expected.blocks().get(block).get(layer));
      }
    }
  }
}
