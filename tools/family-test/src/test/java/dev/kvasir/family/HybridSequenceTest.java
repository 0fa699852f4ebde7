package dev.kvasir.family;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cache.KvCache.Checkpoint;
import dev.kvasir.engine.Batch;
import dev.kvasir.engine.Preemption;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufFile;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.model.HostEngine;
import dev.kvasir.model.StandardLayers;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Recurrent states in batches and chunks, and the cuts and forks of their sequences. */
class HybridSequenceTest {
  private static final int PROMPT = 200;
  private static final int DECODED = 8;

  @TempDir private Path folder;
  private final MemoryPool pool = MemoryPool.unlimited();

  static Stream<Family> families() {
    return HybridFamilies.ALL.stream();
  }

  private interface Use {
    void of(HostEngine engine);
  }

  private void with(Family family, int threads, Use use) {
    Path file = family.model().writeGguf(folder.resolve(family + ".gguf"));
    try (WorkerPool workers = new WorkerPool(threads);
        HostEngine engine =
            HostEngine.load(
                GgufFile.open(file),
                KernelChoice.ofThisProcess().kernels(),
                workers,
                pool,
                (done, inAll) -> {})) {
      use.of(engine);
    }
  }

  private static KvCache cache(HostEngine engine, String spec) {
    return engine.newCache(CacheSpec.parse(spec), Optional.empty(), FamilyModel.CONTEXT);
  }

  private static int[] text(long seed, int length) {
    return new Random(seed).ints(length, 0, FamilyModel.VOCABULARY).toArray();
  }

  /**
   * Computes tokens in one step, with logits of the last one.
   *
   * @param preemption what may interrupt the step; null for nothing
   */
  private static float[] read(
      HostEngine engine, KvCache cache, int[] text, int to, Preemption preemption) {
    Batch batch = new Batch();
    int from = cache.length();
    batch.beginChunk(cache, from, to);
    for (int i = from; i < to; i++) {
      batch.add(cache, text[i], i == to - 1);
    }
    engine.step(batch, preemption);
    batch.requireNoFailure();
    return Arrays.copyOf(batch.logits(), batch.vocabulary());
  }

  private static float[] read(HostEngine engine, KvCache cache, int[] text, int to) {
    return read(engine, cache, text, to, null);
  }

  /** Returns the logits after a prompt and after each of the tokens that follow it. */
  private static float[][] alone(HostEngine engine, String spec, int[] text) {
    try (KvCache cache = cache(engine, spec)) {
      float[][] logits = new float[1 + DECODED][];
      for (int i = 0; i <= DECODED; i++) {
        logits[i] = read(engine, cache, text, PROMPT + i);
      }
      return logits;
    }
  }

  @ParameterizedTest
  @MethodSource("families")
  void chunksAndNeighboursAndThreadsChangeNoBit(Family family) {
    int[] text = text(1, PROMPT + DECODED);
    float[][][] expected = new float[1][][];
    with(family, 1, engine -> expected[0] = alone(engine, "fp32", text));
    with(
        family,
        3,
        engine -> {
          assertThat(alone(engine, "fp32", text)).isDeepEqualTo(expected[0]);
          for (int seed = 0; seed < 3; seed++) {
            assertThat(amongOthers(engine, text, seed)).isDeepEqualTo(expected[0]);
          }
        });
  }

  /** Reads the prompt in random chunks, each in a batch with rows of two other sequences. */
  private static float[][] amongOthers(HostEngine engine, int[] text, long seed) {
    Random random = new Random(seed);
    int[] other = text(seed + 50, 2 * (PROMPT + DECODED));
    float[][] logits = new float[1 + DECODED][];
    try (KvCache cache = cache(engine, "fp32");
        KvCache before = cache(engine, "fp16");
        KvCache after = cache(engine, "kivi:2,window=16")) {
      while (cache.length() < text.length) {
        int rows = cache.length() < PROMPT ? 1 + random.nextInt(PROMPT - cache.length()) : 1;
        Batch batch = new Batch();
        add(batch, before, other, random.nextInt(3));
        int end = cache.length() + rows;
        int index = -1;
        for (int i = cache.length(); i < end; i++) {
          index = batch.add(cache, text[i], i == end - 1);
        }
        add(batch, after, other, random.nextInt(3));
        engine.forward(batch);
        int at = batch.logitsAt(index);
        if (end >= PROMPT) {
          logits[end - PROMPT] = Arrays.copyOfRange(batch.logits(), at, at + batch.vocabulary());
        }
      }
      return logits;
    }
  }

  private static void add(Batch batch, KvCache cache, int[] text, int rows) {
    int from = cache.length();
    for (int i = from; i < from + rows; i++) {
      batch.add(cache, text[i], false);
    }
  }

  @ParameterizedTest
  @MethodSource("families")
  void aStepInTheMidstOfAPromptChangesNoBit(Family family) {
    int[] text = text(5, PROMPT + DECODED);
    int[] promptText = text(6, PROMPT);
    with(
        family,
        2,
        engine -> {
          float[][] expected = alone(engine, "fp32", text);
          try (KvCache fresh = cache(engine, "fp32");
              KvCache decoding = cache(engine, "fp32")) {
            float[] expectedPrompt = read(engine, fresh, promptText, PROMPT);
            read(engine, decoding, text, PROMPT);
            for (int i = 1; i <= DECODED; i++) {
              try (KvCache prompt = cache(engine, "fp32")) {
                DecodeStep decode = new DecodeStep(engine, decoding, text, 5 * i);
                assertThat(read(engine, prompt, promptText, PROMPT, decode))
                    .isEqualTo(expectedPrompt);
                assertThat(decode.logits).isEqualTo(expected[i]);
              }
            }
          }
        });
  }

  /** A decode step that interrupts a prompt step after so many pieces of its tasks. */
  private static final class DecodeStep implements Preemption {
    private final HostEngine engine;
    private final KvCache cache;
    private final int[] text;
    private int piecesLeft;
    private float[] logits; // null before the step

    DecodeStep(HostEngine engine, KvCache cache, int[] text, int pieces) {
      this.engine = engine;
      this.cache = cache;
      this.text = text;
      this.piecesLeft = pieces;
    }

    @Override
    public long nanosLeft() {
      return 0;
    }

    @Override
    public boolean runOthers() {
      if (piecesLeft-- != 0) {
        return false;
      }
      logits = read(engine, cache, text, cache.length() + 1);
      return true;
    }

    @Override
    public void finished(long nanos) {
      assertThat(nanos).isPositive();
    }
  }

  @ParameterizedTest
  @MethodSource("families")
  void aCutReturnsToTheLastCheckpoint(Family family) {
    int[] text = text(2, PROMPT);
    int[] branch = text.clone();
    Arrays.fill(branch, 100, PROMPT, 3);
    with(
        family,
        2,
        engine -> {
          try (KvCache cache = cache(engine, "fp32");
              KvCache fresh = cache(engine, "fp32")) {
            read(engine, cache, text, 60);
            cache.checkpoint(Checkpoint.TURN);
            read(engine, cache, text, PROMPT);
            assertThat(cache.retainable(PROMPT)).isEqualTo(PROMPT);
            assertThat(cache.retainable(100)).isEqualTo(60);
            assertThat(cache.retainable(59)).isZero();
            cache.truncate(100);
            assertThat(cache.length()).isEqualTo(60);
            read(engine, fresh, branch, 60);
            assertThat(read(engine, cache, branch, PROMPT))
                .isEqualTo(read(engine, fresh, branch, PROMPT));
            cache.truncate(10);
            assertThat(cache.length()).isZero();
          }
          assertThat(pool.usedBytes()).isZero();
        });
  }

  @ParameterizedTest
  @MethodSource("families")
  void aForkDoesNotFeelTheOther(Family family) {
    int[] text = text(3, PROMPT);
    int[] branch = text.clone();
    Arrays.fill(branch, 100, PROMPT, 3);
    with(
        family,
        2,
        engine -> {
          try (KvCache cache = cache(engine, "fp32");
              KvCache fresh = cache(engine, "fp32")) {
            read(engine, cache, text, 100);
            try (KvCache fork = cache.fork()) {
              read(engine, fork, branch, 150);
              read(engine, fork, branch, PROMPT);
            }
            read(engine, fresh, text, 100);
            assertThat(read(engine, cache, text, PROMPT))
                .isEqualTo(read(engine, fresh, text, PROMPT));
          }
          assertThat(pool.usedBytes()).isZero();
        });
  }

  /** Devices and calibration compute layers on their own, and know no recurrent ones. */
  @ParameterizedTest
  @MethodSource("families")
  void aDeviceRejectsItInOneSentence(Family family) {
    with(
        family,
        1,
        engine ->
            assertThatThrownBy(() -> StandardLayers.require(engine.config(), "a device"))
                .isInstanceOf(InvalidInputException.class)
                .hasMessageMatching("%s: a device requires [^.\\n]*".formatted(family)));
  }

  @ParameterizedTest
  @MethodSource("families")
  void aStepThatFailsLeavesTheStatesUnchanged(Family family) {
    int[] text = text(4, PROMPT);
    with(
        family,
        2,
        engine -> {
          try (KvCache cache = cache(engine, "fp32");
              KvCache fresh = cache(engine, "fp32")) {
            read(engine, cache, text, 100);
            Batch batch = new Batch();
            batch.add(cache, 5, true);
            batch.fail(0, new IllegalStateException("made to fail"));
            engine.step(batch);
            assertThat(cache.length()).isEqualTo(100);
            read(engine, fresh, text, 100);
            assertThat(read(engine, cache, text, PROMPT))
                .isEqualTo(read(engine, fresh, text, PROMPT));
          }
        });
  }
}
