package dev.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.ExampleSpecs;
import dev.kvasir.codec.SyntheticProfileParts;
import dev.kvasir.codec.commvq.SyntheticCodebooks;
import dev.kvasir.engine.Batch;
import dev.kvasir.engine.Preemption;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.GgufFile;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.model.TinyModel.Sizes;
import dev.kvasir.profile.Profile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that the logits of a sequence are bit-identical alone and in any batch. Other sequences may
 * arrive, fork, truncate, leave and step in the midst of a step, and prompts may be read in any
 * number of parts.
 */
@Tag("contract")
class BatchIsolationTest {
  private static final int CONTEXT = 1200;
  private static final int SEQUENCES = 4;

  private static final Sizes WIDE = Sizes.of("llama").withType(GgmlType.Q8_0);

  /** Same heads with fewer hidden channels: methods differ in attention only. */
  private static final Sizes NARROW = WIDE.withWidth(64);

  @TempDir private Path folder;

  /** An operation of a sequence. */
  private sealed interface Operation {
    /** Reads tokens in one step. */
    record Read(int[] tokens) implements Operation {}

    /** Truncates to that many thousandths of its tokens. */
    record Truncate(int thousandths) implements Operation {}
  }

  /**
   * The operations of a sequence.
   *
   * @param parent sequence that it forks from; -1 for none
   * @param parentOperations operations that the parent has completed by then
   */
  private record History(
      String spec, int parent, int parentOperations, List<Operation> operations) {}

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
            "commvq:2,scores=tables,window=128",
            "mead:2",
            "mead:3,tables=centroids,first=coded,window=128",
            "mead:4,budget=1800KiB,window=128",
            "mead:2,profile=none")
        .map(spec -> ExampleSpecs.withWindow(spec, 40));
  }

  @ParameterizedTest
  @MethodSource("specs")
  void logitsAreTheSameBitsAloneAndInAnyBatch(String spec) {
    check(NARROW, List.of(spec), 1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "fp16",
        "kivi:2,window=40",
        "patternkv:2",
        "mixkvq,high=2.8,mid=2,window=40",
        "pmkvq:2,budget=1600KiB",
        "commvq:1,window=40",
        "mead:2,window=40"
      })
  void alsoWithValuesOfAnotherWidthThanKeys(String spec) {
    check(NARROW.withHeads(8, 2, 48, 32), List.of(spec), 2);
  }

  /** The contents of layers depend on no other sequence, nor does truncation. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "fp16",
        "kivi:2,window=40",
        "kivi:2",
        "mixkvq,high=2.8,mid=2,window=40",
        "patternkv:2,window=40",
        "mead:2,window=40",
        "pmkvq:2,budget=pool,window=0"
      })
  void alsoWithSlidingWindows(String spec) {
    check(NARROW, List.of(spec), 6, 190);
  }

  /** Tokens of other sequences use the same or other experts. */
  @ParameterizedTest
  @CsvSource({"qwen2moe, Q8_0", "qwen3moe, F32"})
  void alsoWithExperts(String family, GgmlType type) {
    check(Sizes.of(family).withType(type).withWidth(64), List.of("fp16", "kivi:2"), 5);
  }

  @ParameterizedTest
  @ValueSource(strings = {"gemma2", "gemma3"})
  void alsoWithDifferentLayersAndSoftCaps(String family) {
    Sizes sizes = Sizes.of(family).withType(GgmlType.Q8_0).withWidth(64);
    check(sizes, List.of("kivi:2,window=40", "patternkv:2", "fp16", "pmkvq:2"), 6);
  }

  @ParameterizedTest
  @ValueSource(longs = {3, 4})
  void cacheTypesMayDifferInABatch(long seed) {
    check(WIDE, List.of("kivi:2,window=40", "patternkv:2", "commvq:1", "fp16", "pmkvq:2"), seed);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "fp16",
        "kivi:2,window=40",
        "patternkv:2,window=40",
        "mixkvq,high=2.8,mid=2,window=40,rotary=16",
        "pmkvq:2"
      })
  void alsoWithLatentAttention(String spec) {
    Sizes sizes = TinyLatent.sizes(12).withType(GgmlType.Q8_0).withWidth(64).withHeads(12, 1, 8);
    LatentConfig latent = new LatentConfig(64, 16, 32, 32, 32, TinyModel.EPSILON);
    check(TinyLatent.split(sizes, latent, 5), List.of(spec), 5, 0);
  }

  private void check(Sizes sizes, List<String> specs, long seed) {
    check(sizes, specs, seed, 0);
  }

  /**
   * @param window sliding window of all layers; 0 for none
   */
  private void check(Sizes sizes, List<String> specs, long seed, int window) {
    check(new TinyModel(sizes, seed), specs, seed, window);
  }

  private void check(TinyModel tiny, List<String> specs, long seed, int window) {
    long bytesBefore = CountedArena.liveBytes();
    Random random = new Random(seed);
    tiny.say("context_length", CONTEXT);
    if (window > 0) {
      tiny.say("attention.sliding_window", window);
    }
    List<History> histories = histories(specs, random);
    try (WorkerPool workers = new WorkerPool(2);
        HostEngine engine =
            HostEngine.load(
                GgufFile.open(tiny.writeGguf(folder.resolve("tiny-%d.gguf".formatted(seed)))),
                KernelChoice.ofThisProcess().kernels(),
                workers,
                MemoryPool.unlimited(),
                (done, inAll) -> {})) {
      CacheShape shape = engine.config().cacheShape();
      Profile profile =
          shape.hasValuesInKeys()
              ? Profile.empty("none")
              : SyntheticProfileParts.addTo(SyntheticCodebooks.profile(shape, 1, 2), shape);
      List<List<float[]>> together = together(engine, profile, histories, random);
      for (int i = 0; i < histories.size(); i++) {
        List<float[]> alone = alone(engine, profile, histories, i);
        assertThat(together.get(i))
            .as("logits of %s, seed %d", histories.get(i).spec, seed)
            .usingElementComparator((a, b) -> Arrays.equals(a, b) ? 0 : 1)
            .containsExactlyElementsOf(alone);
      }
    }
    assertThat(CountedArena.liveBytes()).isEqualTo(bytesBefore);
  }

  private static List<History> histories(List<String> specs, Random random) {
    List<History> histories = new ArrayList<>();
    for (int i = 0; i < SEQUENCES; i++) {
      int parent = i > 0 && random.nextBoolean() ? random.nextInt(i) : -1;
      String spec = parent < 0 ? specs.get(i % specs.size()) : histories.get(parent).spec;
      int operationsBefore =
          parent < 0 ? 0 : random.nextInt(histories.get(parent).operations.size() + 1);
      histories.add(new History(spec, parent, operationsBefore, operations(random)));
    }
    return histories;
  }

  /**
   * Returns prompts long enough to be quantized, single tokens as in generation, and some
   * truncation.
   */
  private static List<Operation> operations(Random random) {
    List<Operation> operations = new ArrayList<>();
    int prompts = 1 + random.nextInt(2);
    for (int prompt = 0; prompt < prompts; prompt++) {
      int length = random.nextBoolean() ? 1 + random.nextInt(12) : 100 + random.nextInt(160);
      operations.add(new Operation.Read(tokens(length, random)));
      for (int i = random.nextInt(6); i > 0; i--) {
        operations.add(new Operation.Read(tokens(1, random)));
      }
      if (random.nextInt(3) == 0) {
        operations.add(new Operation.Truncate(random.nextInt(1000)));
      }
    }
    return operations;
  }

  private static int[] tokens(int count, Random random) {
    return IntStream.range(0, count).map(i -> random.nextInt(50)).toArray();
  }

  private static KvCache newCache(HostEngine engine, Profile profile, History history) {
    return engine.newCache(CacheSpec.parse(history.spec), Optional.of(profile), CONTEXT);
  }

  /** Returns the logits after each step of a sequence that is alone in its batches. */
  private static List<float[]> alone(
      HostEngine engine, Profile profile, List<History> histories, int index) {
    List<float[]> logits = new ArrayList<>();
    try (KvCache cache = past(engine, profile, histories, index)) {
      for (Operation operation : histories.get(index).operations) {
        doAlone(engine, cache, operation).ifPresent(logits::add);
      }
    }
    return logits;
  }

  /** Returns the initial cache of a sequence. */
  private static KvCache past(
      HostEngine engine, Profile profile, List<History> histories, int index) {
    History history = histories.get(index);
    if (history.parent < 0) {
      return newCache(engine, profile, history);
    }
    try (KvCache parent = past(engine, profile, histories, history.parent)) {
      for (Operation operation :
          histories.get(history.parent).operations.subList(0, history.parentOperations)) {
        doAlone(engine, parent, operation);
      }
      return parent.fork();
    }
  }

  private static Optional<float[]> doAlone(HostEngine engine, KvCache cache, Operation operation) {
    return switch (operation) {
      case Operation.Read read -> {
        Batch batch = new Batch();
        for (int i = 0; i < read.tokens.length; i++) {
          batch.add(cache, read.tokens[i], i == read.tokens.length - 1);
        }
        engine.forward(batch);
        yield Optional.of(Logits.row(batch, 0));
      }
      case Operation.Truncate forget -> {
        cache.truncate(cache.length() * forget.thousandths / 1000);
        yield Optional.empty();
      }
    };
  }

  /** A sequence among others. */
  private static final class Member {
    final History history;
    final List<float[]> logits = new ArrayList<>();
    KvCache cache; // null before it arrives
    int done; // operations
    int stepBegin; // of the current step
    int logitIndex;

    Member(History history) {
      this.history = history;
    }

    boolean isOver() {
      return done == history.operations.size();
    }
  }

  private static List<List<float[]>> together(
      HostEngine engine, Profile profile, List<History> histories, Random random) {
    List<Member> members = histories.stream().map(Member::new).toList();
    Batch batch = new Batch();
    Batch inBetween = new Batch();
    try {
      while (!members.stream().allMatch(Member::isOver)) {
        arrive(engine, profile, members, random);
        batch.clear();
        inBetween.clear();
        List<Member> stepping = new ArrayList<>();
        List<Member> steppingInBetween = new ArrayList<>();
        for (Member member : members) {
          if (member.cache != null && !member.isOver() && takesPart(members, member, random)) {
            boolean isInBetween = random.nextInt(3) == 0;
            act(
                member,
                isInBetween ? inBetween : batch,
                isInBetween ? steppingInBetween : stepping,
                random);
          }
        }
        step(engine, batch, inBetween, random.nextInt(60));
        stepping.forEach(member -> take(member, batch));
        steppingInBetween.forEach(member -> take(member, inBetween));
      }
      return members.stream().map(member -> member.logits).toList();
    } finally {
      members.stream().filter(member -> member.cache != null).forEach(m -> m.cache.close());
    }
  }

  /** Runs a step, and another one in its midst after so many pieces of tasks. */
  private static void step(HostEngine engine, Batch batch, Batch inBetween, int pieces) {
    Others others = new Others(engine, inBetween, pieces);
    if (batch.rows() > 0) {
      engine.step(batch, others);
      batch.quantizeWindow();
      batch.requireNoFailure();
    }
    others.finish();
  }

  /** A step that interrupts another one, every piece of whose tasks is a single round. */
  private static final class Others implements Preemption {
    private final HostEngine engine;
    private final Batch batch;
    private int piecesLeft;
    private boolean hasRun;

    Others(HostEngine engine, Batch batch, int pieces) {
      this.engine = engine;
      this.batch = batch;
      this.piecesLeft = pieces;
    }

    @Override
    public long nanosLeft() {
      return 0;
    }

    @Override
    public boolean runOthers() {
      if (piecesLeft-- > 0 || hasRun) {
        return false;
      }
      finish();
      return true;
    }

    @Override
    public void finished(long nanos) {
      assertThat(nanos).isPositive();
    }

    void finish() {
      if (!hasRun && batch.rows() > 0) {
        engine.forward(batch);
      }
      hasRun = true;
    }
  }

  /**
   * Returns whether a member joins the step. A parent waits for those that fork from it at this
   * point.
   */
  private static boolean takesPart(List<Member> members, Member member, Random random) {
    boolean isAwaited =
        members.stream()
            .anyMatch(
                child ->
                    child.cache == null
                        && child.history.parent >= 0
                        && members.get(child.history.parent) == member
                        && child.history.parentOperations == member.done);
    return !isAwaited && random.nextInt(4) > 0;
  }

  private static void arrive(
      HostEngine engine, Profile profile, List<Member> members, Random random) {
    for (Member member : members) {
      if (member.cache != null) {
        continue;
      }
      History history = member.history;
      if (history.parent < 0 && random.nextBoolean()) {
        member.cache = newCache(engine, profile, history);
      } else if (history.parent >= 0) {
        Member parent = members.get(history.parent);
        if (parent.cache != null && parent.done == history.parentOperations) {
          member.cache = parent.cache.fork();
        }
      }
      member.stepBegin = member.cache == null ? 0 : member.cache.length();
    }
  }

  private static void act(Member member, Batch batch, List<Member> stepping, Random random) {
    switch (member.history.operations.get(member.done)) {
      case Operation.Truncate forget -> {
        member.cache.truncate(member.cache.length() * forget.thousandths / 1000);
        member.done++;
        member.stepBegin = member.cache.length();
      }
      case Operation.Read read -> {
        int begin = member.stepBegin;
        int from = member.cache.length() - begin;
        int most = read.tokens.length - from;
        int count = random.nextBoolean() ? most : 1 + random.nextInt(most);
        batch.beginChunk(member.cache, begin, begin + read.tokens.length);
        for (int i = from; i < from + count; i++) {
          boolean last = i == read.tokens.length - 1;
          member.logitIndex = batch.add(member.cache, read.tokens[i], last);
        }
        stepping.add(member);
      }
    }
  }

  private static void take(Member member, Batch batch) {
    if (member.logitIndex >= 0) {
      member.logits.add(Logits.row(batch, member.logitIndex));
      member.done++;
      member.stepBegin = member.cache.length();
    }
  }
}
