package dev.kvasir.family;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.Generation;
import dev.kvasir.GenerationListener;
import dev.kvasir.SessionOptions;
import dev.kvasir.cache.CacheBytes;
import dev.kvasir.cache.CacheFullException;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.GenerationSettings;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.runtime.ModelSession;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Sessions of models with recurrent layers: prefix caching, second turns, files and budgets. */
class HybridSessionTest {
  private static final int STEP = 256;
  private static final GenerationSettings GREEDY = GenerationSettings.greedy().withMaxTokens(12);

  @TempDir private Path folder;

  private LoadedModel load(Family family, EngineOptions options) {
    Path file = folder.resolve(family + ".gguf");
    return LoadedModel.load(family.model().withVocabulary().writeGguf(file), options);
  }

  private LoadedModel load(Family family) {
    return load(family, EngineOptions.defaults());
  }

  /** Every kind of recurrent layer, with caches that serve prefixes of any length or of steps. */
  static Stream<Arguments> familiesAndCaches() {
    Stream<Family> families =
        Stream.of(Family.LFM2, Family.QWEN35, Family.GRANITE_HYBRID, Family.NEMOTRON_H);
    return Stream.concat(
        Stream.of(Arguments.of(Family.LFM2, "kivi:2,window=40")),
        families.flatMap(
            family ->
                Stream.of("fp16", "patternkv:2,window=0").map(spec -> Arguments.of(family, spec))));
  }

  private static SessionOptions options(String spec) {
    return SessionOptions.builder().cache(CacheSpec.parse(spec)).build();
  }

  private static boolean servesAnywhere(String spec) {
    return !spec.startsWith("patternkv");
  }

  private static int[] text(Random random, int length) {
    return random.ints(length, 0, FamilyModel.VOCABULARY).toArray();
  }

  private static int[] join(int[] first, int[] second) {
    int[] both = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, both, first.length, second.length);
    return both;
  }

  private static String alone(LoadedModel model, String spec, int[] text) {
    try (ModelSession session = model.newSession(options(spec))) {
      return session.generate(text, GREEDY, piece -> {}).text();
    }
  }

  private static String shared(LoadedModel model, String spec, int[] text, int cached) {
    try (ModelSession session = model.newSession(options(spec), text, "somebody")) {
      assertThat(session.cachedTokens()).isEqualTo(cached);
      return session.generate(new int[0], GREEDY, piece -> {}).text();
    }
  }

  @ParameterizedTest
  @MethodSource("familiesAndCaches")
  void anAnswerWithAHitIsTheAnswerWithoutOne(Family family, String spec) {
    boolean anywhere = servesAnywhere(spec);
    Random random = new Random(spec.hashCode());
    int whole = 2 * STEP;
    int[] first = text(random, whole + 90);
    int[] second = join(first, text(random, 70));
    int[] within = join(Arrays.copyOf(first, whole + 40), text(random, 60));
    try (LoadedModel model = load(family)) {
      String ofFirst = alone(model, spec, first);
      assertThat(shared(model, spec, first, 0)).isEqualTo(ofFirst);
      // The last token is always computed, so the states are those at the last whole step.
      assertThat(shared(model, spec, first, whole)).isEqualTo(ofFirst);
      assertThat(shared(model, spec, second, anywhere ? first.length : whole))
          .isEqualTo(alone(model, spec, second));
      assertThat(shared(model, spec, within, whole)).isEqualTo(alone(model, spec, within));
    }
  }

  @ParameterizedTest
  @MethodSource("familiesAndCaches")
  void aSecondTurnReadsOnlyNewTokens(Family family, String spec) {
    Random random = new Random(7);
    int[] question = text(random, STEP + 30);
    int[] followUp = text(random, 50);
    try (LoadedModel model = load(family)) {
      int[] conversation;
      String inOneSession;
      try (ModelSession session = model.newSession(options(spec), question, "somebody")) {
        session.generate(new int[0], GREEDY, piece -> {});
        conversation = join(question, answer(session, question.length));
        Generation second = session.generate(followUp, GREEDY, piece -> {});
        // One more: the last token of the answer was sampled and not computed yet.
        assertThat(second.promptTokens()).isEqualTo(followUp.length + 1);
        inOneSession = second.text();
      }
      int[] asked = join(conversation, followUp);
      if (servesAnywhere(spec)) {
        assertThat(shared(model, spec, asked, conversation.length - 1))
            .isEqualTo(inOneSession)
            .isEqualTo(alone(model, spec, asked));
      }
    }
  }

  private static int[] answer(ModelSession session, int from) {
    return Arrays.copyOfRange(session.tokens(), from, session.length());
  }

  @ParameterizedTest
  @MethodSource("familiesAndCaches")
  void aSavedSessionContinuesAsIfItHadNotBeen(Family family, String spec) {
    Random random = new Random(8);
    int[] question = text(random, STEP + 30);
    int[] followUp = text(random, 50);
    Path file = folder.resolve("saved.kvs");
    try (LoadedModel model = load(family);
        ModelSession session = model.newSession(options(spec))) {
      session.generate(question, GREEDY, piece -> {});
      session.save(file);
      String expected = session.generate(followUp, GREEDY, piece -> {}).text();
      try (ModelSession restored = model.restore(file)) {
        Generation second = restored.generate(followUp, GREEDY, piece -> {});
        assertThat(second.text()).isEqualTo(expected);
        assertThat(second.promptTokens()).isEqualTo(followUp.length + 1);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = "LFM2")
  void aSavedSessionWithAChangedStateIsRejected(Family family) throws IOException {
    Path file = folder.resolve("saved.kvs");
    try (LoadedModel model = load(family)) {
      try (ModelSession session = model.newSession(options("fp16"))) {
        session.generate(text(new Random(1), 20), GREEDY, piece -> {});
        session.save(file);
      }
      byte[] bytes = Files.readAllBytes(file);
      bytes[bytes.length - 40] ^= 4;
      Files.write(file, bytes);
      assertThatThrownBy(() -> model.restore(file)).isInstanceOf(InvalidInputException.class);
    }
  }

  @ParameterizedTest
  @MethodSource("familiesAndCaches")
  void aConvertedSessionKeepsItsStates(Family family, String spec) {
    Random random = new Random(9);
    int[] question = text(random, STEP + 30);
    int[] followUp = text(random, 20);
    try (LoadedModel model = load(family);
        ModelSession session = model.newSession(options("fp32"))) {
      session.generate(question, GREEDY, piece -> {});
      try (ModelSession same = session.convertedTo(CacheSpec.parse("fp32"));
          ModelSession other = session.convertedTo(CacheSpec.parse(spec))) {
        assertThat(other.cachedTokens()).isEqualTo(session.cachedTokens());
        assertThat(same.generate(followUp, GREEDY, piece -> {}).text())
            .isEqualTo(session.generate(followUp, GREEDY, piece -> {}).text());
      }
    }
  }

  /** Stops within the second step of a prompt, whose begin is a checkpoint. */
  @ParameterizedTest
  @MethodSource("familiesAndCaches")
  void aStoppedPrefillContinuesWithTheSameText(Family family, String spec) {
    int[] first = text(new Random(10), 40);
    int[] prompt = text(new Random(11), 2 * STEP + 50);
    try (LoadedModel model = load(family)) {
      String expected = afterStop(model, spec, first, prompt, Integer.MAX_VALUE);
      for (int tokens : new int[] {1, STEP, STEP + 1}) {
        assertThat(afterStop(model, spec, first, prompt, tokens)).isEqualTo(expected);
      }
    }
  }

  private static String afterStop(
      LoadedModel model, String spec, int[] first, int[] prompt, int tokens) {
    try (ModelSession session = model.newSession(options(spec))) {
      session.generate(first, GREEDY, piece -> {});
      Generation stopped = session.generate(prompt, GREEDY, new StoppingListener(tokens));
      return stopped.generatedTokens() > 0
          ? stopped.text()
          : session.generate(new int[0], GREEDY, piece -> {}).text();
    }
  }

  /** Stops a generation once that many tokens of its prompt are computed. */
  private static final class StoppingListener implements GenerationListener {
    private final int tokens;
    private boolean isReached;

    StoppingListener(int tokens) {
      this.tokens = tokens;
    }

    @Override
    public void text(String piece) {}

    @Override
    public void promptProgress(int done, int inAll) {
      isReached = done >= tokens;
    }

    @Override
    public boolean stopped() {
      return isReached;
    }
  }

  @ParameterizedTest
  @EnumSource(names = "QWEN35")
  void statesCountInTheBudgetOfACache(Family family) {
    int[] prompt = text(new Random(13), 3 * STEP);
    long budget = 224 << 10; // pages of 16 bits and the states would take 277 KiB
    SessionOptions options = options("pmkvq:2,window=0,budget=224KiB");
    try (LoadedModel model = load(family)) {
      try (ModelSession session = model.newSession(options)) {
        for (int from = 0; from < prompt.length; from += STEP) {
          session.generate(Arrays.copyOfRange(prompt, from, from + STEP), GREEDY, piece -> {});
        }
        CacheBytes bytes = session.cache().bytes();
        assertThat(bytes.states()).isPositive();
        assertThat(bytes.total()).isLessThanOrEqualTo(budget);
        assertThat(bytes.total()).isGreaterThan(budget / 2);
      }
      assertThatThrownBy(() -> model.newSession(options("pmkvq:2,budget=1KiB")))
          .isInstanceOf(InvalidInputException.class)
          .hasMessageMatching(
              "the cache 'pmkvq:2,budget=1KiB' has 1024 bytes; the recurrent states of a sequence"
                  + " take [0-9]+");
    }
  }

  @ParameterizedTest
  @MethodSource("familiesAndCaches")
  void statesCountInTheMemoryOfCaches(Family family, String spec) {
    int[] prompt = text(new Random(12), 2 * STEP + 50);
    long most;
    try (LoadedModel model = load(family)) {
      most = model.maxCacheBytes(options(spec), prompt.length + 12);
      try (ModelSession session = model.newSession(options(spec))) {
        session.generate(prompt, GREEDY, piece -> {});
        assertThat(session.cache().bytes().states()).isPositive();
        assertThat(model.cacheMemory().usedBytes()).isGreaterThan(session.cache().bytes().states());
        assertThat(model.cacheMemory().peakBytes()).isLessThanOrEqualTo(most);
      }
      assertThat(model.cacheMemory().usedBytes())
          .isEqualTo(model.sharedCacheBytes(CacheSpec.parse(spec)));
    }
    try (LoadedModel small = load(family, EngineOptions.defaults().withCacheBytes(most / 8));
        ModelSession session = small.newSession(options(spec))) {
      assertThatThrownBy(() -> session.generate(prompt, GREEDY, piece -> {}))
          .isInstanceOf(CacheFullException.class);
    }
  }
}
