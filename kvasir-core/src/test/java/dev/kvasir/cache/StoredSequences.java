package dev.kvasir.cache;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.codec.CacheHost;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerWidths;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.SealedSequence;
import dev.kvasir.codec.SealedSequence.Stored;
import dev.kvasir.codec.commvq.MadeUpCodebooks;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeFrequencies;
import dev.kvasir.model.RopeLayout;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** Sequences of every method that packs, to be stored. */
final class StoredSequences {
  static final CacheShape SHAPE = new CacheShape(2, 2, 20);

  /** Made once for all tests, and so never freed. */
  private static final Map<CacheShape, ModelTables> TABLES = new ConcurrentHashMap<>();

  private static final CacheHost HOST = host(SHAPE);

  private StoredSequences() {}

  /** Arenas of what is never freed. */
  static int tables() {
    return TABLES.size();
  }

  /** Bytes of what is never freed. */
  static long tableBytes() {
    return TABLES.values().stream().mapToLong(ModelTables::bytes).sum();
  }

  /** All that pack, and what needs a profile. */
  static Stream<String> specs() {
    return Stream.concat(
        CodecContractTest.specs().filter(spec -> codec(spec, SHAPE, HOST).isPresent()),
        Stream.of(
            "kivi:2,widths=profile",
            "pmkvq:2,budget=1MiB,keys=token,smoothing=off",
            "pmkvq:2,budget=1MiB,widths=profile",
            "commvq:2,scores=decoded"));
  }

  static PageCodec method(String spec) {
    return codec(spec, SHAPE, HOST).orElseThrow();
  }

  static PageCodec method(String spec, CacheShape shape) {
    return codec(spec, shape, host(shape)).orElseThrow();
  }

  private static Optional<PageCodec> codec(String spec, CacheShape shape, CacheHost host) {
    return CacheSpec.parse(spec).plan().settings(shape, host).codec();
  }

  private static CacheHost host(CacheShape shape) {
    int channels = shape.layers() * shape.kvHeads() * shape.headDim();
    float[] factors = new float[channels];
    for (int i = 0; i < channels; i++) {
      factors[i] = 0.5f + i % 7;
    }
    float[] widths = new float[shape.layers()];
    Arrays.fill(widths, 2);
    widths[0] = 4;
    return CacheHost.unknown()
        .withQueryHeads(shape.kvHeads())
        .withTables(Optional.of(TABLES.computeIfAbsent(shape, any -> new ModelTables())))
        .withRotation(Optional.of(new Rope(RopeLayout.HALVES, RopeFrequencies.plain(10_000, 16))))
        .withProfile(
            Optional.of(
                MadeUpCodebooks.profile(shape, 1, 2)
                    .with(
                        "pmkvq/smoothing",
                        factors,
                        shape.layers(),
                        shape.kvHeads(),
                        shape.headDim())
                    .with(LayerWidths.KEY, widths, shape.layers())));
  }

  static SealedSequence begin(String spec) {
    return SealedSequence.begin(SHAPE, method(spec));
  }

  /** Runs of several blocks and of few, and pages that have shrunk. */
  static SealedSequence filled(String spec) {
    SealedSequence sequence = begin(spec);
    sequence.grow(2);
    sequence.grow(1);
    sequence.shrink();
    sequence.grow(1);
    return sequence;
  }

  static SealedSequence resume(String spec, Stored stored) {
    return SealedSequence.resume(SHAPE, method(spec), stored);
  }

  static void assertSameBytes(Stored found, Stored expected) {
    assertThat(found.state()).isEqualTo(expected.state());
    assertThat(found.blocks()).hasSameSizeAs(expected.blocks());
    for (int block = 0; block < expected.blocks().size(); block++) {
      for (int layer = 0; layer < SHAPE.layers(); layer++) {
        assertThat(found.blocks().get(block).get(layer))
            .as("block %d of layer %d", block, layer)
            .isEqualTo(expected.blocks().get(block).get(layer));
      }
    }
  }
}
