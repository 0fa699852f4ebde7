package dev.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheHost;
import dev.kvasir.codec.Methods;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.commvq.MadeUpCodebooks;
import dev.kvasir.format.GgufFile;
import dev.kvasir.kernel.Crew;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.model.TinyModel.Sizes;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Rows of several sequences in one step, with every kind of cache, bit by bit what each is alone.
 * More rows than are multiplied as they are coded would be multiplied otherwise than one.
 */
class BatchedMethodsTest {
  private static final int VOCABULARY = 50;
  private static final int DECODED = 12;
  private static final int PROMPT_STEP = 64;

  @TempDir Path folder;

  private final Crew crew = new Crew(3);
  private final ModelTables tables = new ModelTables();
  private final Random random = new Random(13);
  private Decoder decoder;

  static Stream<String> specs() {
    return Stream.of(
        "fp16",
        "bf16",
        "fp32",
        "kivi:2,window=0",
        "patternkv:2,window=0,patterns=4",
        "patternkv:2,window=0,patterns=4,rope=static",
        "mixkvq,high=1.9,mid=1.6,window=0,sinks=0",
        "pmkvq:2,budget=28KiB,window=0,sinks=0",
        "commvq:1,window=0,sinks=0",
        "commvq:2,window=0,sinks=0,scores=tables");
  }

  @Test
  void everyRegisteredMethodIsTried() {
    assertThat(specs().map(spec -> CacheSpec.parse(spec).method()).distinct())
        .containsExactlyInAnyOrderElementsOf(Methods.all());
  }

  @BeforeEach
  void load() {
    TinyModel model = new TinyModel(Sizes.of("llama").withHeads(4, 1, 8), 41);
    GgufFile file = GgufFile.open(model.writeGguf(folder.resolve("tiny.gguf")));
    decoder = Decoder.load(file, new ScalarKernels(), crew, (done, inAll) -> {});
  }

  @AfterEach
  void close() {
    decoder.close();
    tables.close();
    crew.close();
  }

  /** Some pages are full before the steps, one fills within them, and one sequence has none. */
  @ParameterizedTest
  @MethodSource("specs")
  void sequencesOfManyLengthsDecodeTogether(String spec) {
    int[][] prompts = {tokens(300), tokens(250), tokens(20), tokens(380), tokens(128)};
    try (Sequences together = new Sequences(spec);
        Sequences alone = new Sequences(spec)) {
      together.read(prompts);
      alone.read(prompts);
      assertSame(together, alone, prompts.length);
    }
  }

  /** What they share is read by one worker after another for all of them. */
  @ParameterizedTest
  @MethodSource("specs")
  void forksDecodeTogether(String spec) {
    int[] past = tokens(260);
    int[][] ways = {tokens(140), tokens(150), tokens(1), tokens(7)};
    try (Sequences together = new Sequences(spec);
        Sequences alone = new Sequences(spec)) {
      together.readForked(past, ways);
      alone.readForked(past, ways);
      assertSame(together, alone, ways.length);
    }
  }

  private void assertSame(Sequences together, Sequences alone, int count) {
    int[][] texts = new int[count][];
    for (int s = 0; s < count; s++) {
      texts[s] = tokens(DECODED);
    }
    float[][][] found = together.steps.together(together.caches, texts);
    float[][][] expected = alone.steps.alone(alone.caches, texts);
    for (int s = 0; s < count; s++) {
      for (int t = 0; t < DECODED; t++) {
        assertThat(found[s][t]).as("sequence %d, token %d", s, t).isEqualTo(expected[s][t]);
      }
    }
  }

  private int[] tokens(int count) {
    return random.ints(count, 0, VOCABULARY).toArray();
  }

  private final class Sequences implements AutoCloseable {
    private final CacheSpec spec;
    private final SequencesOfAStep steps = new SequencesOfAStep(decoder::forward);
    private final List<KvCache> caches = new ArrayList<>();

    Sequences(String spec) {
      this.spec = CacheSpec.parse(spec);
    }

    void read(int[][] prompts) {
      for (int[] prompt : prompts) {
        caches.add(newCache());
        steps.read(caches.getLast(), prompt, PROMPT_STEP);
      }
    }

    void readForked(int[] past, int[][] ways) {
      try (KvCache common = newCache()) {
        steps.read(common, past, PROMPT_STEP);
        for (int[] way : ways) {
          caches.add(common.fork());
          steps.read(caches.getLast(), way, PROMPT_STEP);
        }
      }
    }

    private KvCache newCache() {
      CacheHost host =
          decoder
              .cacheHost()
              .withTables(Optional.of(tables))
              .withContextLimit(TinyModel.CONTEXT)
              .withProfile(
                  Optional.of(MadeUpCodebooks.profile(decoder.config().cacheShape(), 1, 2)));
      return spec.newCache(decoder.config().cacheShape(), host);
    }

    @Override
    public void close() {
      caches.forEach(KvCache::close);
    }
  }
}
