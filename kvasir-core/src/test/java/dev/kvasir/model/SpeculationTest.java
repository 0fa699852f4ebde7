package dev.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.GenerationListener;
import dev.kvasir.SamplingOptions;
import dev.kvasir.TokenLogprob;
import dev.kvasir.cache.CacheSnapshot;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.ExampleSpecs;
import dev.kvasir.codec.SyntheticProfileParts;
import dev.kvasir.codec.commvq.SyntheticCodebooks;
import dev.kvasir.engine.DraftCosts;
import dev.kvasir.engine.Drafter;
import dev.kvasir.engine.GenerationParams;
import dev.kvasir.engine.Request;
import dev.kvasir.engine.Scheduler;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.GgufFile;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.model.TinyModel.Sizes;
import dev.kvasir.profile.Profile;
import dev.kvasir.sampling.Sampler;
import dev.kvasir.sampling.TokenConstraint;
import dev.kvasir.text.SyntheticTokenizer;
import dev.kvasir.text.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Speculation changes nothing but the number of steps: texts, logprobs, and every byte of the cache
 * are those of single tokens, whatever is drafted.
 */
@Tag("contract")
class SpeculationTest {
  private static final int CONTEXT = 700;
  private static final int MAX_TOKENS = 75;
  private static final Sizes SIZES = Sizes.of("llama").withType(GgmlType.Q8_0).withWidth(64);

  private static final Tokenizer TOKENIZER =
      SyntheticTokenizer.of(
          IntStream.range(0, 50)
              .mapToObj(i -> Character.toString('0' + i).getBytes(StandardCharsets.US_ASCII))
              .toList());

  /** Codebooks take longer to make than the texts of a test. */
  private static final Map<CacheShape, Profile> PROFILES = new ConcurrentHashMap<>();

  @TempDir private Path folder;

  /** Everything that a generation leaves behind. */
  private record Outcome(
      List<Integer> tokens,
      String text,
      List<TokenLogprob> logprobs,
      List<String> cache,
      long bytes) {}

  /** How a text is generated. */
  private record Task(String spec, int[] prompt, long seed, double temperature, int stopAfter) {
    Sampler sampler() {
      SamplingOptions options =
          SamplingOptions.builder()
              .temperature(temperature)
              .seed(seed)
              .frequencyPenalty(temperature == 0 ? 0 : 0.3)
              .build();
      boolean greedy = temperature == 0;
      return new Sampler(
          options, TokenConstraint.NONE, greedy ? OptionalInt.empty() : OptionalInt.of(2));
    }
  }

  /** Drafts the true continuation, with random lengths and some wrong tokens. */
  private static final class Oracle implements Drafter {
    private final List<Integer> truth;
    private final Random random;
    private int known;
    private int proposed;
    private int accepted;

    Oracle(List<Integer> truth, long seed) {
      this.truth = truth;
      this.random = new Random(seed);
    }

    @Override
    public void begin(int[] text, int length) {
      known = length;
    }

    @Override
    public void append(int token) {
      assertThat(token).isEqualTo(truth.get(known++));
    }

    @Override
    public int draft(DraftCosts costs, int max, int[] out) {
      int count = random.nextInt(max + 1);
      for (int i = 0; i < count; i++) {
        boolean isRight = known + i < truth.size() && random.nextInt(8) > 0;
        out[i] = isRight ? truth.get(known + i) : random.nextInt(50);
      }
      proposed += count;
      return count;
    }
  }

  static Stream<String> specs() {
    return ExampleSpecs.withEveryMethod(
            "fp16",
            "fp32",
            "kivi:2",
            "kivi:4,operands=8,sinks=5,window=128",
            "patternkv:2",
            "patternkv:2,rope=static,patterns=4,window=128",
            "mixkvq,high=2.8,mid=2",
            "pmkvq:2,budget=1600KiB,window=128",
            "commvq:1",
            "mead:2",
            "mead:4,budget=1800KiB,window=128",
            "mead:2,profile=none")
        .map(spec -> ExampleSpecs.withWindow(spec, 40));
  }

  @ParameterizedTest
  @MethodSource("specs")
  void aTextAndItsCacheAreTheSameBytes(String spec) {
    check(new TinyModel(SIZES, 1), spec, 0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"fp16", "kivi:2,window=40", "mead:2,window=40", "pmkvq:2,window=0"})
  void alsoWithSlidingWindows(String spec) {
    check(new TinyModel(SIZES, 2), spec, 60);
  }

  @ParameterizedTest
  @ValueSource(strings = {"fp16", "mixkvq,high=2.8,mid=2,window=40,rotary=16"})
  void alsoWithLatentAttention(String spec) {
    Sizes sizes = TinyLatent.sizes(12).withType(GgmlType.Q8_0).withWidth(64).withHeads(12, 1, 8);
    check(
        TinyLatent.split(sizes, new LatentConfig(64, 16, 32, 32, 32, TinyModel.EPSILON), 5),
        spec,
        0);
  }

  @Test
  void alsoWithExperts() {
    check(new TinyModel(Sizes.of("qwen2moe").withWidth(64), 3), "kivi:2,window=40", 0);
  }

  private void check(TinyModel tiny, String spec, int window) {
    tiny.say("context_length", CONTEXT);
    if (window > 0) {
      tiny.say("attention.sliding_window", window);
    }
    long bytesBefore = CountedArena.liveBytes();
    try (WorkerPool workers = new WorkerPool(2);
        HostEngine engine = open(tiny, workers)) {
      Profile profile = profile(engine.config().cacheShape());
      List<Task> tasks = tasks(spec);
      List<Outcome> plain = new ArrayList<>();
      for (Task task : tasks) {
        plain.add(generate(new Scheduler(engine), engine, profile, task, null));
      }
      List<Oracle> oracles = new ArrayList<>();
      Scheduler together = new Scheduler(engine);
      List<CompletableFuture<Outcome>> drafted = new ArrayList<>();
      for (int i = 0; i < tasks.size(); i++) {
        Oracle oracle = new Oracle(plain.get(i).tokens, i);
        oracles.add(oracle);
        Task task = tasks.get(i);
        drafted.add(
            CompletableFuture.supplyAsync(
                () -> generate(together, engine, profile, task, oracle),
                runnable -> Thread.ofVirtual().start(runnable)));
      }
      for (int i = 0; i < tasks.size(); i++) {
        assertThat(drafted.get(i).join()).as("task %d", i).isEqualTo(plain.get(i));
        assertThat(oracles.get(i).accepted).isPositive().isLessThan(oracles.get(i).proposed);
      }
    }
    assertThat(CountedArena.liveBytes()).isEqualTo(bytesBefore);
  }

  private HostEngine open(TinyModel tiny, WorkerPool workers) {
    return HostEngine.load(
        GgufFile.open(tiny.writeGguf(folder.resolve("tiny.gguf"))),
        KernelChoice.ofThisProcess().kernels(),
        workers,
        MemoryPool.unlimited(),
        (done, inAll) -> {});
  }

  private static Profile profile(CacheShape shape) {
    return shape.hasValuesInKeys()
        ? Profile.empty("none")
        : PROFILES.computeIfAbsent(
            shape, any -> SyntheticProfileParts.addTo(SyntheticCodebooks.profile(any, 1, 2), any));
  }

  /** Returns a sampled text, a greedy one, and one that its listener ends early. */
  private static List<Task> tasks(String spec) {
    Random random = new Random(spec.hashCode());
    int[] longPrompt = random.ints(230, 0, 50).toArray();
    int[] shortPrompt = random.ints(3, 0, 50).toArray();
    return List.of(
        new Task(spec, longPrompt, 7, 1, Integer.MAX_VALUE),
        new Task(spec, shortPrompt, 8, 0, Integer.MAX_VALUE),
        new Task(spec, longPrompt, 9, 0.7, 33));
  }

  private static Outcome generate(
      Scheduler scheduler, HostEngine engine, Profile profile, Task task, Drafter drafter) {
    CacheSpec spec = CacheSpec.parse(task.spec);
    try (KvCache cache = engine.newCache(spec, Optional.of(profile), CONTEXT)) {
      Request request = new Request(cache, CONTEXT, cache.defersPrompts(), Set.of(), drafter);
      for (int token : task.prompt) {
        request.append(token);
      }
      List<TokenLogprob> logprobs = new ArrayList<>();
      int[] pieces = new int[1];
      GenerationListener listener =
          new GenerationListener() {
            @Override
            public void text(String piece) {
              pieces[0]++;
            }

            @Override
            public void logprob(TokenLogprob token) {
              logprobs.add(token);
            }

            @Override
            public boolean stopped() {
              return pieces[0] >= task.stopAfter;
            }
          };
      scheduler.run(
          request,
          new GenerationParams(task.sampler(), TOKENIZER.stream(true), MAX_TOKENS, null),
          listener);
      if (drafter instanceof Oracle oracle) {
        oracle.accepted = request.drafts().acceptedTokens();
      }
      return new Outcome(
          IntStream.range(0, request.length()).mapToObj(request::token).toList(),
          request.text(),
          logprobs,
          bytes(cache.snapshot()),
          cache.bytes().total());
    }
  }

  private static List<String> bytes(CacheSnapshot snapshot) {
    List<String> bytes = new ArrayList<>();
    for (int i = 0; i < snapshot.blocks(); i++) {
      bytes.add(HexFormat.of().formatHex(snapshot.block(i)));
    }
    bytes.add(HexFormat.of().formatHex(snapshot.residual()));
    return bytes;
  }
}
