package dev.kvasir.mini;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Generation;
import dev.kvasir.SessionOptions;
import dev.kvasir.cache.CacheSnapshot;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.runtime.GenerationSettings;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.runtime.ModelSession;
import dev.kvasir.text.ChatTemplate;
import dev.kvasir.text.Message;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import kvasir.tools.ShallowModel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sessions of a model with a sliding window of 150 tokens in all layers, which cache no more. */
class WindowedSessionTest {
  private static final int WINDOW = 150;
  private static final String HOLDS_ALL = "pmkvq:2,budget=512KiB";

  @TempDir private static Path models;
  private static LoadedModel model;

  @TempDir private Path folder;

  @BeforeAll
  static void load() {
    model = LoadedModel.load(ShallowModel.writeWindowed(models.resolve("windowed.gguf"), WINDOW));
  }

  @AfterAll
  static void close() {
    model.close();
  }

  @AfterEach
  void forgetPrefixes() {
    model.prefixes().clear();
    assertThat(model.cacheMemory().usedBytes()).isZero();
  }

  private static SessionOptions options(String spec) {
    return SessionOptions.builder().cache(CacheSpec.parse(spec)).build();
  }

  private static int[] text(long seed, int length) {
    return new Random(seed).ints(length, 300, 4000).toArray();
  }

  private static Generation generate(ModelSession session, int[] prompt, int tokens) {
    return session.generate(prompt, GenerationSettings.greedy().withMaxTokens(tokens), piece -> {});
  }

  private static List<Integer> bits(KvCache cache) {
    CacheSnapshot snapshot = cache.snapshot();
    List<Integer> hashes = new ArrayList<>();
    for (int i = 0; i < snapshot.blocks(); i++) {
      hashes.add(Arrays.hashCode(snapshot.block(i)));
    }
    hashes.add(Arrays.hashCode(snapshot.residual()));
    return hashes;
  }

  @ParameterizedTest
  @ValueSource(strings = {"fp16", "kivi:2,window=0"})
  void aSessionNeverTakesMoreThanItIsAdmittedWith(String spec) {
    long most = model.maxCacheBytes(options(spec), 1100);
    try (LoadedModel alone = LoadedModel.load(models.resolve("windowed.gguf"))) {
      try (ModelSession session = alone.newSession(options(spec))) {
        generate(session, text(1, 1000), 99);
        assertThat(session.cache().firstRetained(0)).isBetween(640, 1100 - WINDOW);
        assertThat(alone.cacheMemory().peakBytes()).isLessThanOrEqualTo(most);
      }
      assertThat(alone.cacheMemory().usedBytes()).isZero();
    }
    assertThat(most).isEqualTo(model.maxCacheBytes(options(spec), 1900));
  }

  /**
   * Removed text is dropped from the cache: a little of it, or so much that all is prefilled again.
   */
  @ParameterizedTest
  @ValueSource(strings = {"kivi:2", "patternkv:2", "zipcache:2", HOLDS_ALL})
  void anEditedConversationIsAnsweredLikeANewOne(String spec) {
    String story = "The little dog went to the river. ".repeat(60);
    List<Message> early = List.of(Message.user(story), Message.user("And then?"));
    List<Message> other = List.of(Message.user(story.substring(0, 900)), Message.user("Why?"));
    GenerationSettings options = GenerationSettings.greedy().withMaxTokens(40);
    try (ModelSession session = model.newSession(options(spec))) {
      Generation first = session.chat(early, ChatTemplate.plain(), options, piece -> {});
      int read = first.promptTokens();
      assertThat(read).isGreaterThan(400);
      Generation again = session.chat(early, ChatTemplate.plain(), options, piece -> {});
      assertThat(again.promptTokens()).as("a short rewind").isLessThanOrEqualTo(1);
      Generation cut = session.chat(other, ChatTemplate.plain(), options, piece -> {});
      boolean holdsAll = spec.equals(HOLDS_ALL);
      assertThat(cut.promptTokens() < session.length() - 41).isEqualTo(holdsAll);
      if (!holdsAll) {
        try (ModelSession fresh = model.newSession(options(spec))) {
          Generation alone = fresh.chat(other, ChatTemplate.plain(), options, piece -> {});
          assertThat(cut.text()).isEqualTo(alone.text());
          assertThat(bits(session.cache())).isEqualTo(bits(fresh.cache()));
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"kivi:2,window=0,sinks=5", "zipcache:2", "patternkv:2"})
  void aSavedSessionGoesOnWithTheBitsThatItWouldHaveHad(String spec) {
    Path file = folder.resolve("a.session");
    try (ModelSession session = model.newSession(options(spec))) {
      generate(session, text(2, 700), 20);
      session.save(file);
      try (ModelSession restored = model.restore(file)) {
        assertThat(bits(restored.cache())).isEqualTo(bits(session.cache()));
        String text = generate(session, new int[0], 150).text();
        assertThat(generate(restored, new int[0], 150).text()).isEqualTo(text);
        assertThat(bits(restored.cache())).isEqualTo(bits(session.cache()));
      }
    }
  }

  /** A prefix that serves another text only in part may retain too few tokens. */
  @ParameterizedTest
  @ValueSource(strings = {"fp16", "kivi:2"})
  void textsWithACachedPrefixHaveTheBitsOfAFullPrefill(String spec) {
    int[] first = text(3, 800);
    List<int[]> texts = new ArrayList<>(List.of(first));
    for (int common : new int[] {799, 700, 520, 5}) {
      int[] other = Arrays.copyOf(first, common + 60);
      System.arraycopy(text(common, 60), 0, other, common, 60);
      texts.add(other);
    }
    texts.add(Arrays.copyOf(first, 780));
    int cachedTokens = 0;
    for (int[] text : texts) {
      try (ModelSession shared = model.newSession(options(spec), text, "somebody");
          ModelSession alone = model.newSession(options(spec))) {
        cachedTokens += shared.cachedTokens();
        String answer = generate(shared, new int[0], 30).text();
        assertThat(answer).isEqualTo(generate(alone, text, 30).text());
        assertThat(bits(shared.cache())).isEqualTo(bits(alone.cache()));
      }
    }
    assertThat(cachedTokens).isGreaterThan(1000);
  }

  @Test
  void aSessionIsRequantizedFromItsCache() {
    try (ModelSession session = model.newSession(options("kivi:4"))) {
      generate(session, text(4, 700), 1);
      CacheSpec narrower = CacheSpec.parse("kivi:2,window=0,sinks=5");
      try (ModelSession quantized = session.convertedTo(narrower)) {
        assertThat(quantized.cachedTokens()).isEqualTo(700);
        assertThat(quantized.cache().firstRetained(0)).isPositive();
        assertThat(quantized.cache().bytes().total()).isLessThan(session.cache().bytes().total());
        assertThat(generate(quantized, new int[0], 20).generatedTokens()).isEqualTo(20);
      }
    }
  }

  @Test
  void aKindThatLearnsPrefillsTheTextAgain() {
    try (ModelSession session = model.newSession(options("kivi:4"))) {
      generate(session, text(4, 700), 1);
      try (ModelSession quantized = session.convertedTo(CacheSpec.parse("patternkv:2"))) {
        assertThat(quantized.cachedTokens()).isZero();
        assertThat(generate(quantized, new int[0], 20).promptTokens()).isEqualTo(701);
      }
    }
  }
}
