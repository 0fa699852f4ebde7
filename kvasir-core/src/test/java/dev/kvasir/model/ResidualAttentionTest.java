package dev.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cache.PagedCache;
import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.engine.Batch;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.model.TinyModel.Sizes;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests what a codec observes of tokens before it quantizes them. */
@Tag("contract")
class ResidualAttentionTest {
  private static final long SEED = 19;
  private static final int CONTEXT = 2400;
  private static final int ALL = Integer.MAX_VALUE;
  private static final Sizes SIZES = Sizes.of("llama").withHeads(8, 2, 16);

  /** A token whose embedding a test sets to NaN. */
  private static final int NO_NUMBER = 49;

  /** Steps of a sequence: prompts that are quantized in part, and single tokens. */
  private static final int[] STEPS = {150, 1, 1, 1, 37, 1, 1, 200, 1, 1};

  @TempDir private Path folder;
  private final WorkerPool workers = new WorkerPool(2);
  private final Random random = new Random(SEED);
  private HostEngine engine;
  private long bytesBefore;

  @BeforeEach
  void begin() {
    bytesBefore = CountedArena.liveBytes();
  }

  @AfterEach
  void close() {
    engine.close();
    workers.close();
    assertThat(CountedArena.liveBytes()).isEqualTo(bytesBefore);
  }

  private void load(TinyModel model) {
    model.say("context_length", CONTEXT);
    engine = TinyEngine.ofGguf(model.writeGguf(folder.resolve("tiny.gguf")), workers);
  }

  /** A sequence with access to its codec. */
  private record Attentive(KvCache cache, AttentiveSequence codec) implements AutoCloseable {
    @Override
    public void close() {
      cache.close();
    }

    /** Returns what is known of all unquantized tokens. */
    List<String> known(int layers) {
      List<String> known = new ArrayList<>(codec.packed());
      for (int layer = 0; layer < layers; layer++) {
        int first = 128 * codec.packed().size() / layers;
        known.add(codec.known(layer, first, cache.length() - first));
      }
      return known;
    }
  }

  private Attentive open(CacheConfig settings) {
    AttentiveCodec codec = (AttentiveCodec) settings.codec().orElseThrow();
    KvCache cache = new PagedCache(engine.config().cacheShape(), settings);
    return new Attentive(cache, codec.begun().getLast());
  }

  private CacheConfig settings(String toySpec, int queries, boolean prefersQuantizedPrefill) {
    CacheShape shape = engine.config().cacheShape();
    return AttentiveCodec.settings(shape, toySpec, queries, prefersQuantizedPrefill);
  }

  private Attentive open() {
    return open(settings("toy,window=40", 128, false));
  }

  private int[] tokens(int count) {
    return random.ints(count, 0, NO_NUMBER).toArray();
  }

  private void step(KvCache cache, int... tokens) {
    Batch batch = new Batch();
    Arrays.stream(tokens).forEach(token -> batch.add(cache, token, false));
    engine.forward(batch);
  }

  private void readInSteps(KvCache cache, int[] tokens) {
    int from = 0;
    for (int count : STEPS) {
      step(cache, Arrays.copyOfRange(tokens, from, from + count));
      from += count;
    }
  }

  @ParameterizedTest
  @CsvSource({
    "128, 8, 2, 'toy,window=40', F16",
    "128, 8, 2, 'toy,window=40', BF16",
    "128, 8, 2, 'toy,window=40', F32",
    "128, 8, 2, 'toy,window=200,sinks=5', F16",
    "5, 8, 2, 'toy,window=40', F16",
    "1, 6, 2, 'toy,window=0', F16",
    "2147483647, 8, 2, 'toy,window=300', F16",
    "100, 3, 3, 'toy,window=40', F16",
    "100, 20, 1, 'toy,window=40', F16",
  })
  void weightsEqualASoftmaxOverTheWholePast(
      int queries, int queryHeads, int kvHeads, String spec, Precision precision) {
    load(new TinyModel(SIZES.withHeads(queryHeads, kvHeads, 16), SEED));
    CacheConfig settings = settings(spec, queries, false);
    try (Attentive sequence =
        open(new CacheConfig(precision, settings.sinks(), settings.window(), settings.codec()))) {
      PlainAttention plain =
          new PlainAttention(sequence.cache, engine.config().attentionShape(), ALL, queries);
      sequence.codec.listen(plain);
      readInSteps(sequence.cache, tokens(Arrays.stream(STEPS).sum()));
      assertThat(plain.errors()).isEmpty();
      assertThat(plain.checked()).isPositive();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 30, 140})
  void aSlidingWindowIsRespected(int window) {
    TinyModel model = new TinyModel(Sizes.of("mistral"), SEED);
    model.say("attention.sliding_window", window);
    load(model);
    try (Attentive sequence = open()) {
      PlainAttention plain =
          new PlainAttention(sequence.cache, engine.config().attentionShape(), window, 128);
      sequence.codec.listen(plain);
      readInSteps(sequence.cache, tokens(Arrays.stream(STEPS).sum()));
      assertThat(plain.errors()).isEmpty();
      assertThat(plain.checked()).isPositive();
    }
  }

  /** More than one KV split, so that partial sums are merged. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void weightsAreRightAfterALongPast(boolean prefersQuantizedPrefill) {
    load(new TinyModel(SIZES, SEED));
    try (Attentive sequence = open(settings("toy,window=40", 128, prefersQuantizedPrefill))) {
      step(sequence.cache, tokens(2100));
      PlainAttention plain =
          new PlainAttention(sequence.cache, engine.config().attentionShape(), ALL, 128);
      sequence.codec.listen(plain);
      step(sequence.cache, tokens(1));
      step(sequence.cache, tokens(2));
      step(sequence.cache, tokens(5));
      assertThat(plain.errors()).isEmpty();
      assertThat(plain.checked()).isPositive();
    }
  }

  @Test
  void idsAreThoseOfTheQuantizedBlock() {
    load(new TinyModel(SIZES, SEED));
    int[] tokens = tokens(Arrays.stream(STEPS).sum());
    try (Attentive sequence = open()) {
      readInSteps(sequence.cache, tokens);
      assertThat(sequence.codec.packed()).hasSize(2 * 2);
      for (int i = 0; i < 4; i++) {
        int first = i / 2 * 128;
        String ids =
            IntStream.range(first, first + 128)
                .mapToObj(position -> " " + tokens[position])
                .reduce("", String::concat);
        assertThat(sequence.codec.packed().get(i))
            .startsWith("layer %d at %d:%s [".formatted(i % 2, first, ids));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void observationsDoNotDependOnChunksAndBatches(long seed) {
    load(new TinyModel(SIZES, SEED));
    int[] tokens = tokens(Arrays.stream(STEPS).sum());
    int layers = engine.config().layers();
    try (Attentive alone = open();
        Attentive together = open();
        Attentive companion = open(settings("toy,window=10", 77, false));
        KvCache other = engine.newCache(CacheSpec.parse("kivi:2"), Optional.empty(), CONTEXT)) {
      readInSteps(alone.cache, tokens);
      Random parts = new Random(seed);
      Batch batch = new Batch();
      int stepBegin = 0;
      int next = 0;
      for (int count : STEPS) {
        while (together.cache.length() < stepBegin + count) {
          int most = stepBegin + count - together.cache.length();
          batch.clear();
          addSome(batch, companion.cache, parts);
          batch.beginChunk(together.cache, stepBegin, stepBegin + count);
          for (int i = 1 + parts.nextInt(most); i > 0; i--) {
            batch.add(together.cache, tokens[next++], false);
          }
          addSome(batch, other, parts);
          engine.forward(batch);
        }
        stepBegin += count;
      }
      assertThat(together.known(layers)).isEqualTo(alone.known(layers));
    }
  }

  private void addSome(Batch batch, KvCache cache, Random parts) {
    for (int token : tokens(parts.nextInt(12))) {
      batch.add(cache, token, false);
    }
  }

  @Test
  void anAbortedStepLeavesNothing() {
    TinyModel model = new TinyModel(SIZES, SEED);
    model.tensors.computeIfPresent(
        "model.embed_tokens.weight", (name, tensor) -> tensor.withRow(NO_NUMBER, Float.NaN));
    load(model);
    int[] tokens = tokens(120);
    int layers = engine.config().layers();
    try (Attentive whole = open();
        Attentive broken = open()) {
      for (Attentive sequence : List.of(whole, broken)) {
        step(sequence.cache, Arrays.copyOf(tokens, 100));
      }
      Batch batch = new Batch();
      for (int token : new int[] {1, 2, 3, NO_NUMBER, 4}) {
        batch.add(broken.cache, token, false);
      }
      engine.step(batch);
      assertThat(batch.failure(broken.cache)).isPresent();
      assertThat(broken.known(layers)).isEqualTo(whole.known(layers));
      for (int i = 100; i < 120; i++) {
        step(whole.cache, tokens[i]);
        step(broken.cache, tokens[i]);
      }
      assertThat(broken.known(layers)).isEqualTo(whole.known(layers));
    }
  }

  @Test
  void aForkInheritsStatisticsAndContinuesIndependently() {
    load(new TinyModel(SIZES, SEED));
    int[] tokens = tokens(130);
    try (Attentive sequence = open();
        Attentive twin = open()) {
      step(sequence.cache, Arrays.copyOf(tokens, 120));
      step(twin.cache, Arrays.copyOf(tokens, 120));
      try (KvCache fork = sequence.cache.fork()) {
        step(fork, tokens(7));
        step(sequence.cache, Arrays.copyOfRange(tokens, 120, 130));
        step(twin.cache, Arrays.copyOfRange(tokens, 120, 130));
        int layers = engine.config().layers();
        assertThat(sequence.known(layers)).isEqualTo(twin.known(layers));
      }
    }
  }

  /** While quantization is deferred everything is retained, and no more than usual afterwards. */
  @Test
  void memoryIsFreedAfterDeferredQuantization() {
    load(new TinyModel(SIZES, SEED));
    try (Attentive sequence = open()) {
      long usual = sequence.cache.bytes().tables();
      sequence.cache.deferQuantization(true);
      step(sequence.cache, tokens(250));
      step(sequence.cache, tokens(250));
      assertThat(sequence.cache.bytes().tables()).isGreaterThan(2 * usual);
      sequence.cache.deferQuantization(false);
      assertThat(sequence.cache.bytes().tables()).isEqualTo(usual);
    }
  }
}
