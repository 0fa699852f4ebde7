package dev.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cache.PagedCache;
import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.ExampleSpecs;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.SyntheticProfileParts;
import dev.kvasir.codec.commvq.SyntheticCodebooks;
import dev.kvasir.engine.Batch;
import dev.kvasir.engine.Preemption;
import dev.kvasir.format.GgmlType;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.model.TinyModel.Sizes;
import dev.kvasir.profile.Profile;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that a step without quantization allocates nothing, in any of its threads. It runs on Java
 * kernels: a native call allocates until it is compiled.
 */
@Tag("allocation")
class StepAllocationTest {
  private static final Sizes FEW_HEADS = Sizes.of("llama");
  private static final int CONTEXT = 2304;

  /** After the window of every method there is a quantized page, and no block ends soon after. */
  private static final int PROMPT = 300;

  /** More than one KV split, so that partial results are merged. */
  private static final int LONG_PROMPT = 2200;

  private static final int PROMPT_STEP = 64;
  private static final int STEPS = 4;

  /**
   * Code that is not linked or compiled may allocate, and so may a workspace on first use. The best
   * of many rounds counts: enough for the compiler to see what happens once a step.
   */
  private static final int MAX_ROUNDS = 1000;

  @TempDir Path folder;

  private final WorkerPool workers = new WorkerPool(2);
  private final Random random = new Random(17);
  private final ThreadMXBean meter = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private final long[] threads = new long[workers.size()];
  private HostEngine engine;

  static Stream<String> specs() {
    return ExampleSpecs.withEveryMethod(
        "fp16",
        "bf16",
        "fp32",
        "kivi:1",
        "kivi:2,sinks=5",
        "kivi:4,group=32,operands=8",
        "patternkv:2",
        "patternkv:2,rope=static",
        "mixkvq,high=1.2,mid=0.8",
        "pmkvq:2,budget=pool",
        "pmkvq:2,budget=1MiB,keys=token",
        "pmkvq:2,budget=60KiB",
        "pmkvq:2,budget=60KiB,keys=token,shrink=layer",
        "commvq:1",
        "commvq:1,scores=tables",
        "commvq:1,scores=decoded",
        "mead:2",
        "mead:2,tables=centroids,first=coded",
        "mead:2,profile=none");
  }

  @AfterEach
  void close() {
    if (engine != null) {
      engine.close();
    }
    workers.close();
  }

  @ParameterizedTest
  @MethodSource("specs")
  void aTokenOfOneSequenceAllocatesNothing(String spec) {
    load(FEW_HEADS);
    try (KvCache cache = newCache(spec, PROMPT)) {
      assertThat(leastBytes(1, cache)).as(spec).isZero();
    }
  }

  @Tag("thorough")
  @ParameterizedTest
  @MethodSource("specs")
  void norDoForksOfEveryCache(String spec) {
    tokensOfForksAllocateNothing(spec);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"fp16", "kivi:2,sinks=5", "mixkvq,high=1.2,mid=0.8", "commvq:1", "mead:2"})
  void tokensOfForksAllocateNothing(String spec) {
    load(FEW_HEADS);
    try (KvCache cache = newCache(spec, PROMPT);
        KvCache fork = cache.fork();
        KvCache other = cache.fork()) {
      assertThat(leastBytes(1, cache, fork, other)).as(spec).isZero();
    }
  }

  @Tag("thorough")
  @ParameterizedTest
  @MethodSource("specs")
  void norDoContinuedPromptsOfEveryCache(String spec) {
    aContinuedPromptAllocatesNothing(spec);
  }

  /** Pages and weights are dequantized for that many rows. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "fp16",
        "kivi:4,group=32,operands=8",
        "patternkv:2",
        "mixkvq,high=1.2,mid=0.8",
        "pmkvq:2,budget=60KiB",
        "commvq:1",
        "mead:2",
        "quarot:4"
      })
  void aContinuedPromptAllocatesNothing(String spec) {
    load(FEW_HEADS);
    try (KvCache cache = newCache(spec, PROMPT)) {
      assertThat(leastBytes(10, cache)).as(spec).isZero();
    }
  }

  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(strings = {"patternkv:2", "commvq:1"})
  void norDoesOneWithOtherCaches(String spec) {
    aTokenAfterALongPastAllocatesNothing(spec);
  }

  @ParameterizedTest
  @ValueSource(strings = {"fp16", "kivi:2"})
  void aTokenAfterALongPastAllocatesNothing(String spec) {
    load(FEW_HEADS);
    try (KvCache cache = newCache(spec, LONG_PROMPT)) {
      assertThat(leastBytes(1, cache)).as(spec).isZero();
    }
  }

  @Test
  void groupedQueryHeadsAllocateNothing() {
    load(FEW_HEADS.withHeads(16, 1, 8));
    try (KvCache cache = newCache("kivi:2", PROMPT)) {
      assertThat(leastBytes(1, cache)).isZero();
    }
  }

  /** With two sequences there is enough work for two threads to let KV heads pass together. */
  @Test
  void headsThatPassTogetherAtTimesAllocateNothing() {
    load(FEW_HEADS.withHeads(16, 8, 8));
    Batch batch = new Batch();
    try (KvCache cache = newCache("commvq:1", PROMPT);
        KvCache fork = cache.fork()) {
      assertThat(cache.headsPerPass()).isEqualTo(4);
      KvCache[] one = {cache};
      KvCache[] both = {cache, fork};
      assertThat(
              leastBytes(
                  () -> {
                    step(batch, 1, both);
                    step(batch, 1, one);
                  },
                  both))
          .isZero();
    }
  }

  @Test
  void stepsInTheMidstOfAPromptStepAllocateNothing() {
    load(FEW_HEADS);
    Batch prompt = new Batch();
    Batch token = new Batch();
    try (KvCache cache = newCache("kivi:2", PROMPT);
        KvCache other = newCache("kivi:2", PROMPT)) {
      KvCache[] one = {other};
      Preemption preemption = new AfterEveryRound(() -> step(token, 1, one));
      Runnable step =
          () -> {
            prompt.clear();
            for (int i = 1; i <= 10; i++) {
              prompt.add(cache, i, i == 10);
            }
            other.truncate(PROMPT);
            engine.step(prompt, preemption);
          };
      assertThat(leastBytes(step, cache)).isZero();
    }
  }

  /** Runs other steps after each round of the parts of a task. */
  private record AfterEveryRound(Runnable others) implements Preemption {
    @Override
    public long nanosLeft() {
      return 0;
    }

    @Override
    public boolean runOthers() {
      others.run();
      return true;
    }

    @Override
    public void finished(long nanos) {}
  }

  @Test
  void quantizedWeightsAllocateNothing() {
    load(FEW_HEADS.withType(GgmlType.Q8_0));
    try (KvCache cache = newCache("kivi:2", PROMPT)) {
      assertThat(leastBytes(1, cache)).as("a token").isZero();
      assertThat(leastBytes(10, cache)).as("a prompt").isZero();
    }
  }

  @ParameterizedTest
  @CsvSource({"qwen2moe, Q8_0", "qwen3moe, F16"})
  void expertsAllocateNothing(String family, GgmlType type) {
    load(Sizes.of(family).withType(type));
    try (KvCache cache = newCache("kivi:2", PROMPT)) {
      assertThat(leastBytes(1, cache)).as("a token").isZero();
      assertThat(leastBytes(10, cache)).as("a prompt").isZero();
    }
    try (KvCache cache = newCache("kivi:2", PROMPT);
        KvCache fork = cache.fork()) {
      assertThat(leastBytes(1, cache, fork)).as("two tokens").isZero();
    }
  }

  @Tag("thorough")
  @ParameterizedTest
  @CsvSource({"qwen2moe, F16", "qwen3moe, Q8_0"})
  void norDoExpertsOfOtherTypes(String family, GgmlType type) {
    expertsAllocateNothing(family, type);
  }

  @ParameterizedTest
  @ValueSource(strings = {"gemma2", "gemma3"})
  void differentLayersAndSoftCapsAllocateNothing(String family) {
    load(Sizes.of(family));
    try (KvCache cache = newCache("kivi:2", PROMPT)) {
      assertThat(leastBytes(1, cache)).as("a token").isZero();
      assertThat(leastBytes(10, cache)).as("a prompt").isZero();
    }
  }

  @Test
  void observedAttentionAllocatesNothing() {
    load(FEW_HEADS);
    CacheShape shape = engine.config().cacheShape();
    CacheConfig settings = AttentiveCodec.settings(shape, "toy", Page.TOKENS, false);
    try (KvCache cache = fill(new PagedCache(shape, settings), PROMPT);
        KvCache fork = cache.fork()) {
      assertThat(leastBytes(1, cache, fork)).as("a token").isZero();
      assertThat(leastBytes(10, cache, fork)).as("a prompt").isZero();
    }
  }

  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(
      strings = {
        "fp16",
        "kivi:2",
        "patternkv:2",
        "mixkvq,high=1.2,mid=0.8",
        "pmkvq:2,budget=4bits"
      })
  void norDoesItWithOtherCaches(String spec) {
    latentAttentionAllocatesNothing(spec);
  }

  @ParameterizedTest
  @ValueSource(strings = {"kivi:4,rotary=16", "pmkvq:2,budget=pool"})
  void latentAttentionAllocatesNothing(String spec) {
    Sizes sizes = TinyLatent.sizes(12).withType(GgmlType.Q8_0).withWidth(64).withHeads(12, 1, 8);
    load(TinyLatent.split(sizes, new LatentConfig(64, 16, 32, 32, 32, TinyModel.EPSILON), 41));
    try (KvCache cache = newCache(spec, PROMPT)) {
      assertThat(leastBytes(1, cache)).as("a token").isZero();
      assertThat(leastBytes(10, cache)).as("a prompt").isZero();
    }
  }

  private void load(Sizes sizes) {
    load(new TinyModel(sizes, 41));
  }

  private void load(TinyModel model) {
    model.say("context_length", CONTEXT);
    engine =
        TinyEngine.ofGguf(
            model.writeGguf(folder.resolve("tiny.gguf")), new ScalarKernels(), workers);
    nameThreads();
  }

  /** Each waits for all others, so that no thread runs two of the tasks. */
  private void nameThreads() {
    CyclicBarrier all = new CyclicBarrier(workers.size());
    workers.run(
        (part, worker) -> {
          threads[worker] = Thread.currentThread().threadId();
          try {
            all.await();
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        },
        workers.size());
    assertThat(threads).doesNotContain(0);
  }

  private KvCache newCache(String spec, int prompt) {
    KvCache cache =
        fill(engine.newCache(CacheSpec.parse(spec), Optional.of(profile()), CONTEXT), prompt);
    boolean isDense = spec.startsWith("fp") || spec.startsWith("bf");
    assertThat(cache.bytes().codes() == 0).as("nothing is packed").isEqualTo(isDense);
    return cache;
  }

  private KvCache fill(KvCache cache, int prompt) {
    Batch batch = new Batch();
    for (int read = 0; read < prompt; read += PROMPT_STEP) {
      batch.clear();
      for (int i = read; i < Math.min(prompt, read + PROMPT_STEP); i++) {
        batch.add(cache, random.nextInt(FEW_HEADS.vocabulary()), false);
      }
      engine.forward(batch);
    }
    return cache;
  }

  private Profile profile() {
    CacheShape shape = engine.config().cacheShape();
    if (shape.hasValuesInKeys()) {
      return Profile.empty("none");
    }
    float[] factors = new float[shape.layers() * shape.kvHeads() * shape.headDim()];
    Arrays.fill(factors, 1.5f);
    return SyntheticProfileParts.addTo(SyntheticCodebooks.profile(shape, 1), shape)
        .with("pmkvq/smoothing", factors, shape.layers(), shape.kvHeads(), shape.headDim());
  }

  /** Returns the bytes that some steps allocate, in the best round. */
  private long leastBytes(int tokens, KvCache... caches) {
    Batch batch = new Batch();
    return leastBytes(() -> step(batch, tokens, caches), caches);
  }

  private long leastBytes(Runnable step, KvCache... caches) {
    int length = caches[0].length();
    step.run(); // a fork allocates its own block
    long least = Long.MAX_VALUE;
    for (int round = 0; round < MAX_ROUNDS && least > 0; round++) {
      for (KvCache cache : caches) {
        cache.truncate(length);
      }
      long before = allocated();
      for (int i = 0; i < STEPS; i++) {
        step.run();
      }
      least = Math.min(least, allocated() - before);
    }
    return least;
  }

  private void step(Batch batch, int tokens, KvCache[] caches) {
    batch.clear();
    for (KvCache cache : caches) {
      for (int i = 1; i <= tokens; i++) {
        batch.add(cache, i, i == tokens);
      }
    }
    engine.forward(batch);
  }

  private long allocated() {
    long sum = 0;
    for (long thread : threads) {
      sum += meter.getThreadAllocatedBytes(thread);
    }
    return sum;
  }
}
