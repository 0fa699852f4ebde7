package dev.kvasir.mini;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.SessionOptions;
import dev.kvasir.cache.CacheFullException;
import dev.kvasir.cache.CacheSnapshot;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.profile.Profile;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.GenerationSettings;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.runtime.ModelSession;
import dev.kvasir.stored.Identity;
import dev.kvasir.stored.SessionFile;
import dev.kvasir.stored.StoredSequence;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import kvasir.tools.ShallowModel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A saved session continues on another model of the same file as if it had never stopped. */
class SavedSessionTest {
  private static final LoadedModel MODEL = LoadedModel.bundled();

  @TempDir private static Path models;
  private static LoadedModel shallow;
  private static LoadedModel other;
  private static LoadedModel otherWhole;

  @TempDir private Path folder;

  @BeforeAll
  static void load() {
    Path file = ShallowModel.write(models.resolve("shallow.gguf"));
    shallow = LoadedModel.load(file);
    other = LoadedModel.load(file);
    otherWhole = LoadedModel.bundled();
  }

  @AfterAll
  static void close() {
    MODEL.close();
    shallow.close();
    other.close();
    otherWhole.close();
  }

  private static SessionOptions options(String spec) {
    return SessionOptions.builder().cache(CacheSpec.parse(spec)).build();
  }

  private static String generate(ModelSession session, int[] prompt, int tokens) {
    GenerationSettings options = GenerationSettings.greedy().withMaxTokens(tokens);
    return session.generate(prompt, options, piece -> {}).text();
  }

  private static List<String> bits(KvCache cache) {
    List<String> pieces = new ArrayList<>();
    for (int i = 0; i < cache.snapshot().blocks(); i++) {
      pieces.add(HexFormat.of().formatHex(cache.snapshot().block(i)));
    }
    pieces.add(HexFormat.of().formatHex(cache.snapshot().residual()));
    return pieces;
  }

  /** The pages of every method are stored and continued by {@code CodecContractTest}. */
  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(
      strings = {
        "kivi:2,window=0",
        "kvtuner:3",
        "pmkvq:4,budget=pool,sinks=16",
        "ott:2,window=0",
        "mikv:2,window=0",
        "skvq:2",
        "kvquant:2,window=0",
        "quarot:2",
        "turboquant:2,window=0",
        "rotatekv:2",
        "qserve:4,window=0",
        "kvarn:2",
        "vqllm:2,window=0",
        "mead:2.5,budget=2MiB"
      })
  void andSoHasWhatFollowsWithOtherMethods(String spec) {
    whatFollowsHasTheSameBitsAsIfItHadNeverStopped(spec);
  }

  /** Lengths cut pages, windows and prefill steps at random places. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "fp16",
        "kivi:2,k=4,v=1,window=40,sinks=16",
        "patternkv:2",
        "mixkvq,high=1.9,mid=1.6",
        "pmkvq:2,budget=750KiB",
        "zipcache:2",
        "commvq:1,beam=1,window=0",
        "oscar:2",
        "mead:1.5",
        "mead:2,profile=none"
      })
  void whatFollowsHasTheSameBitsAsIfItHadNeverStopped(String spec) {
    Random random = new Random(spec.hashCode());
    int[] prompt = random.ints(200 + random.nextInt(200), 300, 4000).toArray();
    int first = 5 + random.nextInt(15);
    Path file = folder.resolve("session");
    boolean isShallow = ShallowModel.serves(spec);
    try (ModelSession session = (isShallow ? shallow : MODEL).newSession(options(spec))) {
      generate(session, prompt, first);
      session.save(file);
      String rest = generate(session, new int[0], 15);
      try (ModelSession restored = (isShallow ? other : otherWhole).restore(file)) {
        assertThat(restored.length()).isEqualTo(prompt.length + first);
        assertThat(generate(restored, new int[0], 15)).isEqualTo(rest);
        assertThat(bits(restored.cache())).isEqualTo(bits(session.cache()));
      }
    }
  }

  @Test
  void aSessionMayBeSavedBeforeItsFirstTokenAndAfterAnEdit() {
    Path file = folder.resolve("session");
    try (ModelSession session = shallow.newSession(options("kivi:2"))) {
      session.save(file);
      try (ModelSession restored = other.restore(file)) {
        assertThat(restored.length()).isZero();
        assertThat(generate(restored, new int[] {1, 400}, 3))
            .isEqualTo(generate(session, new int[] {1, 400}, 3));
      }
    }
  }

  @Test
  void memoryIsAllocatedFromTheModelsPoolAndReleased() {
    Path file = folder.resolve("session");
    try (ModelSession session = shallow.newSession(options("kivi:2"))) {
      generate(session, new Random(3).ints(700, 300, 4000).toArray(), 1);
      session.save(file);
    }
    long before = other.cacheMemory().usedBytes();
    try (ModelSession restored = other.restore(file)) {
      assertThat(other.cacheMemory().usedBytes())
          .isGreaterThanOrEqualTo(before + restored.cache().bytes().total());
    }
    assertThat(other.cacheMemory().usedBytes()).isEqualTo(before);
    try (LoadedModel small =
        LoadedModel.load(
            models.resolve("shallow.gguf"), EngineOptions.defaults().withCacheBytes(125_000))) {
      assertThatThrownBy(() -> small.restore(file))
          .isInstanceOf(CacheFullException.class)
          .hasMessageContaining("a stored sequence of 700 tokens cannot be held");
      assertThat(small.cacheMemory().usedBytes()).isZero();
    }
  }

  @Test
  void aFileOfAnotherProfileOrModelIsRefusedByWhatDiffers() throws IOException {
    Path file = folder.resolve("session");
    try (ModelSession session = MODEL.newSession(options("mead:2"))) {
      generate(session, new int[] {1, 400}, 3);
      session.save(file);
    }
    Profile changed = MODEL.profile().orElseThrow().withNote("mead:tokens/made", "otherwise");
    try (LoadedModel other = LoadedModel.bundled(EngineOptions.defaults().withProfile(changed))) {
      assertThatThrownBy(() -> other.restore(file))
          .isInstanceOf(InvalidInputException.class)
          .hasMessageStartingWith(file + ": was stored with another part of a profile, ");
    }
    byte[] bytes = Files.readAllBytes(file);
    Files.write(file, Arrays.copyOf(bytes, bytes.length - 1));
    assertThatThrownBy(() -> MODEL.restore(file))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(file + ": is not whole: its end is missing");
  }

  @Test
  void aFileOfOtherWeightsRopeSpecOrTenantIsRefusedByWhatDiffers() {
    Identity own = shallow.identity(options("kivi:2"));
    String other = "ef".repeat(32);
    assertRefused(
        new Identity(other, own.model(), own.spec(), own.profile(), 0, ""),
        "set of weights, 'efefefefefef'");
    assertRefused(
        new Identity(own.weights(), other, own.spec(), own.profile(), 0, ""),
        "model, 'efefefefefef'");
    assertRefused(
        new Identity(own.weights(), own.model(), "kivi:4", own.profile(), 0, ""),
        "kind of cache, 'kivi:4'");
    assertRefused(own.withTenant("another"), "tenant, 'another'");
  }

  private void assertRefused(Identity identity, String what) {
    Path file = folder.resolve("session");
    try (ModelSession session = shallow.newSession(options("kivi:2"))) {
      generate(session, new int[] {1, 400}, 1);
      CacheSnapshot snapshot = session.cache().snapshot();
      int[] tokens = {1, 400};
      SessionFile.write(
          file,
          identity,
          tokens,
          snapshot,
          names ->
              new StoredSequence(
                  identity,
                  "kivi:2",
                  4096,
                  false,
                  Instant.EPOCH,
                  tokens,
                  snapshot.length(),
                  names,
                  Snapshot.of(snapshot.residual())));
    }
    assertThatThrownBy(() -> shallow.restore(file))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageStartingWith(file + ": was stored with another " + what);
  }

  /** Only those parts of a profile may change that the kind of cache does not use. */
  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(
      strings = {
        "kivi:2,window=0",
        "patternkv:2,window=0",
        "qserve:4,window=0",
        "commvq:2,window=0",
        "mead:2,tables=off,window=0",
        "kvquant:2,window=0",
        "skvq:2,window=0"
      })
  void andSoAreThoseOfOtherPlans(String spec) {
    thePartsThatAPlanNamesAreAllThatItUses(spec);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "kvtuner:3,window=0",
        "mixkvq,window=0",
        "pmkvq:2,budget=3MiB,window=0",
        "mead:2,window=0"
      })
  void thePartsThatAPlanNamesAreAllThatItUses(String spec) {
    CacheSpec cache = CacheSpec.parse(spec);
    Profile used = MODEL.profile().orElseThrow().only(cache.config().profileParts());
    int[] prompt = new Random(5).ints(170, 300, 4000).toArray();
    try (LoadedModel other = LoadedModel.bundled(EngineOptions.defaults().withProfile(used));
        ModelSession session = MODEL.newSession(options(spec));
        ModelSession withLess = other.newSession(options(spec))) {
      generate(session, prompt, 1);
      generate(withLess, prompt, 1);
      assertThat(bits(withLess.cache())).isEqualTo(bits(session.cache()));
      assertThat(other.identity(options(spec))).isEqualTo(MODEL.identity(options(spec)));
    }
  }

  @Test
  void aFileSaysWhatItHolds() {
    Path file = folder.resolve("session");
    try (ModelSession session = shallow.newSession(options("kivi:2"))) {
      generate(session, new Random(3).ints(600, 300, 4000).toArray(), 1);
      session.save(file);
    }
    try (SessionFile opened = SessionFile.open(file)) {
      assertThat(opened.sequence().cacheSpec()).isEqualTo("kivi:2");
      assertThat(opened.sequence().tokens()).hasSize(601);
      assertThat(opened.sequence().length()).isEqualTo(600);
      assertThat(opened.sequence().blocks()).hasSize(3);
      opened.verify();
    }
  }
}
