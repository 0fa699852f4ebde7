package dev.kvasir.mini;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.SessionOptions;
import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.cache.CacheFullException;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.runtime.GenerationSettings;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.runtime.ModelSession;
import dev.kvasir.stored.SessionFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import kvasir.tools.ShallowModel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A session that was saved with one kind of cache continues with another. */
class RepackedSessionTest {
  private static final int TOKENS = 520;
  private static final int[] TEXT = new Random(7).ints(TOKENS, 300, 4000).toArray();

  @TempDir private static Path models;
  private static LoadedModel shallow;
  private static LoadedModel bundled;

  @TempDir private Path folder;
  private LoadedModel model = shallow;

  @BeforeAll
  static void load() {
    shallow = LoadedModel.load(ShallowModel.write(models.resolve("shallow.gguf")));
    bundled = LoadedModel.bundled();
  }

  @AfterAll
  static void close() {
    shallow.close();
    bundled.close();
  }

  private void use(String spec) {
    model = ShallowModel.serves(spec) ? shallow : bundled;
  }

  private static SessionOptions options(String spec) {
    return SessionOptions.builder().cache(CacheSpec.parse(spec)).build();
  }

  private ModelSession read(SessionOptions options) {
    ModelSession session = model.newSession(options);
    generate(session, TEXT, 1);
    return session;
  }

  private static String generate(ModelSession session, int[] prompt, int tokens) {
    GenerationSettings options = GenerationSettings.greedy().withMaxTokens(tokens);
    return session.generate(prompt, options, piece -> {}).text();
  }

  private Path saved(String spec) {
    Path file = folder.resolve("session");
    try (ModelSession session = read(options(spec))) {
      session.save(file);
    }
    return file;
  }

  private static List<Integer> bits(KvCache cache) {
    List<Integer> hashes = new ArrayList<>();
    for (int i = 0; i < cache.snapshot().blocks(); i++) {
      hashes.add(Arrays.hashCode(cache.snapshot().block(i)));
    }
    hashes.add(Arrays.hashCode(cache.snapshot().residual()));
    return hashes;
  }

  /** Sinks shift the block boundaries of one kind against the other. */
  @Tag("thorough")
  @ParameterizedTest
  @CsvSource(
      delimiter = '>',
      value = {
        "fp16>commvq:1",
        "pmkvq:4>pmkvq:2",
        "kivi:4,sinks=5>patternkv:2,sinks=16",
        "kivi:2>fp16"
      })
  void andSoItIsBetweenOtherKinds(String before, String after) {
    theTextStaysAndBytesAreThoseOfTheOtherKind(before, after);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '>',
      value = {
        "kivi:4>kivi:2",
        "fp16>pmkvq:2,budget=512KiB",
        "mixkvq,high=1.9,mid=1.6>kivi:2,window=0",
        "mead:2.5>mead:1.5,window=0"
      })
  void theTextStaysAndBytesAreThoseOfTheOtherKind(String before, String after) {
    use(ShallowModel.serves(before) ? after : before);
    Path file = saved(before);
    long taken = model.cacheMemory().usedBytes();
    try (ModelSession restored = model.restore(file, CacheSpec.parse(after));
        ModelSession fresh = read(options(after))) {
      assertThat(restored.options()).isEqualTo(fresh.options());
      assertThat(restored.cachedTokens()).isEqualTo(TOKENS);
      assertThat(restored.cache().bytes()).isEqualTo(fresh.cache().bytes());
      assertThat(generate(restored, new int[0], 12)).isNotEmpty();
      restored.save(folder.resolve("narrower"));
    }
    assertThat(model.cacheMemory().usedBytes()).isEqualTo(taken);
    try (SessionFile first = SessionFile.open(file);
        SessionFile second = SessionFile.open(folder.resolve("narrower"))) {
      assertThat(second.sequence().cacheSpec()).isEqualTo(after);
      assertThat(second.sequence().tokens())
          .startsWith(first.sequence().tokens())
          .hasSize(TOKENS + 13);
      second.verify();
    }
  }

  @Test
  void bytesMatchTheEstimate() {
    Path file = saved("kivi:4");
    CacheSpec narrower = CacheSpec.parse("kivi:2");
    try (ModelSession restored = model.restore(file, narrower)) {
      assertThat(restored.cache().bytes())
          .isEqualTo(narrower.bytesFor(model.config().cacheShape(), TOKENS));
    }
  }

  /** Half precision loses nothing on the way, and in both cases tokens attended to halves. */
  @ParameterizedTest
  @ValueSource(strings = {"kivi:2", "kivi:4,k=2"})
  void requantizedHalvesHaveTheBitsOfAPromptQuantizedAtItsEnd(String spec) {
    SessionOptions exactly = options(spec).toBuilder().prefill(Prefill.EXACT).build();
    try (ModelSession halves = read(options("fp16").toBuilder().prefill(Prefill.EXACT).build());
        ModelSession requantized = halves.convertedTo(CacheSpec.parse(spec));
        ModelSession quantizedAtItsEnd = read(exactly)) {
      assertThat(requantized.options()).isEqualTo(exactly);
      assertThat(bits(requantized.cache())).isEqualTo(bits(quantizedAtItsEnd.cache()));
    }
  }

  @Test
  void theSameKindIsRestoredAsItIs() {
    Path file = saved("kivi:2");
    try (ModelSession restored = model.restore(file);
        ModelSession again = model.restore(file, CacheSpec.parse("kivi:2"))) {
      assertThat(bits(again.cache())).isEqualTo(bits(restored.cache()));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"mixkvq,high=1.9,mid=1.6", "mead:1.5,profile=none"})
  void kindsThatQuantizeByAttentionAreRefused(String spec) {
    use(spec);
    Path file = saved("kivi:2");
    long taken = model.cacheMemory().usedBytes();
    assertThatThrownBy(() -> model.restore(file, CacheSpec.parse(spec)))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("'%s' quantizes by attention statistics".formatted(spec));
    assertThat(model.cacheMemory().usedBytes()).isEqualTo(taken);
  }

  @Test
  void aBudgetThatCannotHoldTheTextIsNamedAndNothingIsSaved() {
    Path file = saved("kivi:2");
    long taken = model.cacheMemory().usedBytes();
    assertThatThrownBy(() -> model.restore(file, CacheSpec.parse("pmkvq:2,budget=150KiB")))
        .isInstanceOf(CacheFullException.class);
    assertThat(model.cacheMemory().usedBytes()).isEqualTo(taken);
  }
}
