package dev.kvasir.store.prefix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.SessionOptions;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.GenerationSettings;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.runtime.ModelSession;
import dev.kvasir.store.StoreAddress;
import dev.kvasir.store.TieredStore;
import dev.kvasir.store.prefix.StoredPrefixes.FetchedPrefix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import kvasir.tools.ShallowModel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Prefix caching with two models that stand for two processes sharing a folder. */
class StoredPrefixesTest {
  private static final int STEP = 256;
  private static final Duration LONG = Duration.ofMinutes(1);

  @TempDir private Path folder;
  private static LoadedModel here;
  private static LoadedModel there;
  private TieredStore storeHere;
  private TieredStore storeThere;
  private StoredPrefixes stored;
  private StoredPrefixes found;

  /** Thorough runs include methods trained for all layers of the bundled model. */
  private static final boolean THOROUGH = Boolean.getBoolean("kvasir.thorough");

  @TempDir private static Path models;

  @BeforeAll
  static void load() {
    ShallowModel.write(models.resolve("shallow.gguf"));
    here = model(EngineOptions.defaults());
    there = model(EngineOptions.defaults());
  }

  private static LoadedModel model(EngineOptions options) {
    return THOROUGH
        ? LoadedModel.bundled(options)
        : LoadedModel.load(models.resolve("shallow.gguf"), options);
  }

  @AfterAll
  static void unload() {
    here.close();
    there.close();
  }

  @BeforeEach
  void connect() {
    storeHere = openStore();
    storeThere = openStore();
    stored = new StoredPrefixes(here, storeHere);
    found = new StoredPrefixes(there, storeThere);
    here.prefixes().setRemote(stored);
    there.prefixes().setRemote(found);
  }

  private TieredStore openStore() {
    return TieredStore.open(List.of(StoreAddress.parse(folder.toString())), sentence -> {});
  }

  @AfterEach
  void close() {
    stored.close();
    found.close();
    storeHere.close();
    storeThere.close();
    here.prefixes().clear();
    there.prefixes().clear();
    assertThat(here.cacheMemory().usedBytes()).isZero();
    assertThat(there.cacheMemory().usedBytes()).isZero();
  }

  private static SessionOptions options(String spec) {
    return SessionOptions.builder().cache(CacheSpec.parse(spec)).build();
  }

  private static int[] text(long seed, int length) {
    return new Random(seed).ints(length, 300, 4000).toArray();
  }

  /** The generated text and the number of prompt tokens without prefill. */
  private record Outcome(String text, int cachedTokens) {}

  private static Outcome answer(LoadedModel model, SessionOptions options, int[] text) {
    try (ModelSession session = model.newSession(options, text, null)) {
      int cachedTokens = session.cachedTokens();
      GenerationSettings greedy = GenerationSettings.greedy().withMaxTokens(8);
      return new Outcome(session.generate(new int[0], greedy, piece -> {}).text(), cachedTokens);
    }
  }

  private void readHere(SessionOptions options, int[] text) {
    answer(here, options, text);
    stored.close(LONG);
    assertThat(storeHere.flush(LONG)).isTrue();
  }

  private static int[] join(int[] first, int... more) {
    int[] both = Arrays.copyOf(first, first.length + more.length);
    System.arraycopy(more, 0, both, first.length, more.length);
    return both;
  }

  static Stream<String> specs() {
    return THOROUGH
        ? Stream.of("kivi:2,sinks=5", "mixkvq", "pmkvq:2,budget=6MiB", "mead:1.5")
        : Stream.of("kivi:2,sinks=5", "mixkvq,high=1.9,mid=1.6", "pmkvq:2,budget=1536KiB");
  }

  @ParameterizedTest
  @MethodSource("specs")
  void anAnswerWithAnotherProcessesPrefixIsTheAnswerWithoutIt(String spec) {
    int[] text = text(spec.hashCode(), 2 * STEP + 90);
    int[] next = join(text, text(7, 300));
    readHere(options(spec), text);
    long farHits = there.prefixes().stats().remoteHits();
    Outcome outcome = answer(there, options(spec), next);
    assertThat(outcome.cachedTokens()).isGreaterThanOrEqualTo(2 * STEP);
    assertThat(outcome.text()).isEqualTo(withoutStore(spec, next));
    assertThat(found.counts().hits()).isEqualTo(1);
    assertThat(found.counts().tokens()).isEqualTo(outcome.cachedTokens());
    assertThat(there.prefixes().stats().remoteHits()).isEqualTo(farHits + 1);
    // The fetched prefix is in the local cache now.
    there.prefixes().setRemote(null);
    assertThat(answer(there, options(spec), next).cachedTokens())
        .isGreaterThanOrEqualTo(outcome.cachedTokens());
  }

  private String withoutStore(String spec, int[] text) {
    try (ModelSession session = there.newSession(options(spec))) {
      GenerationSettings greedy = GenerationSettings.greedy().withMaxTokens(8);
      return session.generate(text, greedy, piece -> {}).text();
    }
  }

  @Test
  void aDeletedBlockIsWrittenAgain() throws IOException {
    SessionOptions options = options("kivi:2");
    int[] text = text(11, 3 * STEP);
    int[] longer = join(text, text(12, STEP + 40));
    answer(here, options, text);
    long end = System.nanoTime() + LONG.toNanos();
    while (stored.counts().saved() == 0 && System.nanoTime() < end) {
      LockSupport.parkNanos(1_000_000);
    }
    assertThat(storeHere.flush(LONG)).isTrue();
    List<Path> blocks =
        files().stream().filter(file -> file.toString().endsWith(".kvblock")).toList();
    assertThat(blocks).hasSize(5);
    Files.delete(blocks.get(2));
    readHere(options, longer);
    assertThat(files()).containsAll(blocks);
    assertThat(answer(there, options, longer).cachedTokens()).isEqualTo(longer.length - 1);
  }

  /** A server short of memory may evict any blob, and a record may outlive its blocks. */
  @Test
  void aShorterPrefixServesWhenABlockIsMissing() throws IOException {
    SessionOptions options = options("kivi:2");
    int[] text = text(13, 2 * STEP + 20);
    int[] longer = join(text, text(14, 2 * STEP));
    readHere(options, text);
    List<Path> before = files();
    here.prefixes().clear();
    stored = new StoredPrefixes(here, storeHere);
    here.prefixes().setRemote(stored);
    readHere(options, longer);
    for (Path file : files()) {
      if (!before.contains(file) && file.toString().endsWith(".kvblock")) {
        Files.delete(file);
      }
    }
    Outcome outcome = answer(there, options, longer);
    assertThat(outcome.cachedTokens()).isBetween(2 * STEP, 3 * STEP);
    assertThat(outcome.text()).isEqualTo(withoutStore("kivi:2", longer));
    assertThat(found.counts().hits()).isEqualTo(1);
    assertThat(found.counts().misses()).isZero();
  }

  @Test
  void anotherTextTenantOrKindFindsNothing() {
    int[] text = text(1, 2 * STEP + 90);
    readHere(options("kivi:2"), text);
    int[] other = text.clone();
    other[3]++;
    assertThat(answer(there, options("kivi:2"), other).cachedTokens()).isZero();
    assertThat(
            answer(there, options("kivi:2").toBuilder().tenant("another").build(), text)
                .cachedTokens())
        .isZero();
    assertThat(answer(there, options("kivi:4"), text).cachedTokens()).isZero();
    assertThat(found.counts().hits()).isZero();
    assertThat(answer(there, options("kivi:2"), text).cachedTokens()).isEqualTo(text.length - 1);
  }

  /** Damages each file in turn; a damaged blob is deleted and written again by the next reader. */
  @Test
  void damagedBlobsAreMissesAndTheAnswerIsRight() throws IOException {
    int[] text = text(2, 2 * STEP + 90);
    readHere(options("kivi:2,window=0"), text);
    String right = withoutStore("kivi:2,window=0", text);
    List<Path> files = files();
    assertThat(files).hasSizeGreaterThan(3);
    for (Path file : files) {
      // Pending writes of the last round must be done before the next file is damaged.
      found.close(LONG);
      assertThat(storeThere.flush(LONG)).isTrue();
      found = new StoredPrefixes(there, storeThere);
      there.prefixes().setRemote(found);
      there.prefixes().clear(); // a mapped file must not change
      byte[] good = Files.readAllBytes(file);
      byte[] bad = good.clone();
      bad[good.length / 2] ^= 4;
      Files.write(file, bad);
      Outcome outcome = answer(there, options("kivi:2,window=0"), text);
      assertThat(outcome.text()).isEqualTo(right);
      assertThat(outcome.cachedTokens()).as(file.toString()).isLessThan(text.length - 1);
      assertThat(Files.exists(file) && Arrays.equals(Files.readAllBytes(file), bad)).isFalse();
      Files.createDirectories(file.getParent());
      Files.write(file, good);
    }
  }

  /** Specs whose blocks are large enough to stay mapped. */
  static Stream<String> mappedSpecs() {
    return THOROUGH ? Stream.of("fp16", "kivi:2", "patternkv:2") : Stream.of("fp16", "kivi:8");
  }

  /** Another process may evict files that this one reads. */
  @ParameterizedTest
  @MethodSource("mappedSpecs")
  void blocksAreReadFromMappedFilesAfterEviction(String spec) throws IOException {
    Path maps = Path.of("/proc/self/maps");
    assumeTrue(Files.exists(maps), "what is mapped can be seen on Linux alone");
    int[] text = text(spec.hashCode(), 3 * STEP + 1);
    readHere(options(spec), text);
    String right = withoutStore(spec, text);
    try (ModelSession session = there.newSession(options(spec), text, null)) {
      assertThat(session.cachedTokens()).isGreaterThanOrEqualTo(2 * STEP);
      assertThat(Files.readString(maps)).contains(".kvblock");
      for (Path file : files()) {
        Files.delete(file);
      }
      GenerationSettings greedy = GenerationSettings.greedy().withMaxTokens(8);
      assertThat(session.generate(new int[0], greedy, piece -> {}).text()).isEqualTo(right);
      assertThat(there.cacheMemory().usedBytes())
          .isGreaterThanOrEqualTo(session.cache().bytes().total());
    }
    found.close(LONG);
    there.prefixes().clear();
    assertThat(Files.readString(maps)).doesNotContain(".kvblock");
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(file -> file.toString().matches(".*\\.kv(block|record)")).toList();
    }
  }

  @Test
  void aPrefixThatIsSlowerThanPrefillIsNotFetched() {
    int[] text = text(3, 2 * STEP + 90);
    readHere(options("kivi:2"), text);
    found.recordPrefill(1_000_000_000, 1);
    assertThat(answer(there, options("kivi:2"), text).cachedTokens()).isZero();
    assertThat(found.counts().tooSlow()).isEqualTo(1);
  }

  @Test
  void withoutMemoryForAPrefixTheTextIsPrefilled() {
    int[] text = text(4, 4 * STEP);
    readHere(options("fp16"), text);
    try (LoadedModel small = model(EngineOptions.defaults().withCacheBytes(1 << 18));
        StoredPrefixes prefixes = new StoredPrefixes(small, storeThere)) {
      small.prefixes().setRemote(prefixes);
      try (ModelSession session = small.newSession(options("fp16"), text, null)) {
        assertThat(session.cachedTokens()).isZero();
      }
      assertThat(small.cacheMemory().usedBytes()).isZero();
      assertThat(prefixes.counts().misses()).isEqualTo(1);
    }
  }

  @Test
  void theOriginOfAPrefixIsKnownByItsCache() {
    int[] text = text(5, 2 * STEP + 90);
    readHere(options("kivi:2"), text);
    try (ModelSession session = there.newSession(options("kivi:2"), text, null)) {
      FetchedPrefix fetched = found.origin(session.cache()).orElseThrow();
      assertThat(fetched.tokens()).isEqualTo(text.length - 1);
      assertThat(fetched.bytes()).isPositive();
      assertThat(fetched.tier()).isEqualTo(folder.toString());
    }
  }
}
