package dev.kvasir.mini;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Generation;
import dev.kvasir.GenerationListener;
import dev.kvasir.SamplingOptions;
import dev.kvasir.SessionOptions;
import dev.kvasir.TokenLogprob;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.GenerationSettings;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.runtime.ModelSession;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import kvasir.tools.ShallowModel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A conversation continues from its last answer with the same bits as after a full prefill. */
class SecondTurnTest {
  private static final int STEP = 256;

  @TempDir private static Path folder;
  private static LoadedModel shallow;
  private LoadedModel model = shallow;

  @BeforeAll
  static void load() {
    shallow = LoadedModel.load(ShallowModel.write(folder.resolve("shallow.gguf")));
  }

  @AfterAll
  static void close() {
    shallow.close();
  }

  @AfterEach
  void forgetPrefixes() {
    model.prefixes().clear();
    assertThat(model.cacheMemory().usedBytes()).isZero();
  }

  /** The generated tokens and hashes of the cached vectors. */
  private record Answer(int[] tokens, List<Integer> vectorHashes) {}

  private static Answer answer(ModelSession session, int[] prompt, int maxTokens) {
    List<Integer> tokens = new ArrayList<>();
    GenerationListener listener =
        new GenerationListener() {
          @Override
          public void text(String piece) {}

          @Override
          public void logprob(TokenLogprob token) {
            tokens.add(token.token());
          }
        };
    GenerationSettings options =
        new GenerationSettings(maxTokens, SamplingOptions.builder().seed(5).build())
            .withTopLogprobs(0);
    Generation made = session.generate(prompt, options, listener);
    assertThat(made.generatedTokens()).isPositive();
    return new Answer(
        tokens.stream().mapToInt(Integer::intValue).toArray(), vectorHashes(session.cache()));
  }

  private static List<Integer> vectorHashes(KvCache cache) {
    List<Integer> hashes = new ArrayList<>();
    float[] out = new float[KvCache.TOKENS_PER_PAGE * 256];
    for (int block = 0; block <= cache.blockOf(cache.length() - 1); block++) {
      int end = Math.min(cache.length(), cache.firstPosition(block + 1));
      int tokens = end - cache.firstPosition(block);
      for (int layer = 0; layer < 2; layer++) {
        cache.view(layer, block).expandKeys(new ScalarKernels(), 0, tokens, out);
        hashes.add(Arrays.hashCode(out));
        cache.view(layer, block).expandValues(new ScalarKernels(), 0, tokens, out);
        hashes.add(Arrays.hashCode(out));
      }
    }
    return hashes;
  }

  private static SessionOptions options(String spec) {
    return SessionOptions.builder().cache(CacheSpec.parse(spec)).build();
  }

  private static int[] text(Random random, int length) {
    return random.ints(length, 300, 4000).toArray();
  }

  private static int[] join(int[]... texts) {
    return Arrays.stream(texts).flatMapToInt(Arrays::stream).toArray();
  }

  private void checkIsAsRead(SessionOptions options, int[] text, int cachedTokens) {
    Answer shared;
    try (ModelSession session = model.newSession(options, text, "somebody")) {
      assertThat(session.cachedTokens()).isEqualTo(cachedTokens);
      shared = answer(session, new int[0], 40);
    }
    try (ModelSession session = model.newSession(options)) {
      Answer alone = answer(session, text, 40);
      assertThat(shared.tokens()).containsExactly(alone.tokens());
      assertThat(shared.vectorHashes()).isEqualTo(alone.vectorHashes());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "fp16",
        "kivi:2,window=0",
        "kivi:4,operands=8,sinks=5",
        "kivi:2,k=4,v=1,window=40,sinks=16"
      })
  void aSecondMessagePrefillsOnlyItsNewTokens(String spec) {
    Random random = new Random(spec.hashCode());
    SessionOptions options = options(spec);
    for (int length : new int[] {STEP - 30, 2 * STEP + random.nextInt(STEP)}) {
      int[] prompt = text(random, length);
      Answer first;
      int held;
      try (ModelSession session = model.newSession(options, prompt, "somebody")) {
        first = answer(session, new int[0], 40 + random.nextInt(STEP / 2));
        held = session.cachedTokens();
      }
      int[] message = text(random, 1 + random.nextInt(STEP));
      checkIsAsRead(options, join(prompt, first.tokens(), message), held);
    }
  }

  @Test
  void anEditedAnswerServesAsFarAsItIsTheSame() {
    Random random = new Random(3);
    SessionOptions options = options("kivi:2,window=0");
    int[] prompt = text(random, 2 * STEP + 20);
    Answer first;
    try (ModelSession session = model.newSession(options, prompt, "somebody")) {
      first = answer(session, new int[0], 60);
    }
    int[] part = Arrays.copyOf(first.tokens(), 30);
    checkIsAsRead(
        options, join(prompt, part, new int[] {first.tokens()[30] ^ 1}, part), 2 * STEP + 50);
  }

  @Test
  void whereAStepEndsInBetweenTheEndOfThePromptServes() {
    Random random = new Random(4);
    SessionOptions options = options("kivi:2,window=0");
    int[] prompt = text(random, 2 * STEP - 20);
    Answer first;
    try (ModelSession session = model.newSession(options, prompt, "somebody")) {
      first = answer(session, new int[0], 80);
    }
    int[] part = Arrays.copyOf(first.tokens(), 10);
    checkIsAsRead(
        options, join(prompt, part, new int[] {first.tokens()[10] ^ 1}, part), 2 * STEP - 20);
  }

  @Tag("thorough")
  @Test
  void andSoDoesOneWithCodebooks() {
    try (LoadedModel bundled = LoadedModel.bundled()) {
      model = bundled;
      otherCachesPrefillAnAnswerAgain("commvq:1");
    }
    model = shallow;
  }

  @ParameterizedTest
  @ValueSource(strings = {"patternkv:2", "fp32"})
  void otherCachesPrefillAnAnswerAgain(String spec) {
    Random random = new Random(6);
    int[] prompt = text(random, STEP + 50);
    Answer first;
    try (ModelSession session = model.newSession(options(spec), prompt, "somebody")) {
      first = answer(session, new int[0], 30);
    }
    checkIsAsRead(options(spec), join(prompt, first.tokens(), text(random, 10)), STEP);
  }

  /** A cached prefix shares the block being filled and must not prevent filling it. */
  @Test
  void aCachedPromptDoesNotBlockItsAnswer() {
    Path file = folder.resolve("shallow.gguf");
    SessionOptions options = options("fp16");
    int[] prompt = text(new Random(7), 3 * STEP + 100);
    long needed = model.maxCacheBytes(options, prompt.length + 20);
    try (LoadedModel small =
            LoadedModel.load(file, EngineOptions.defaults().withCacheBytes(needed));
        ModelSession session = small.newSession(options, prompt, "somebody")) {
      assertThat(answer(session, new int[0], 20).tokens()).hasSize(20);
    }
  }
}
