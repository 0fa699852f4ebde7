package dev.kvasir.mini;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.Generation;
import dev.kvasir.SessionOptions;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.PrefixCache;
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

/**
 * A text with a cached prefix gives the same bits as one that is prefilled from its first token.
 */
class SharedPrefixTest {
  private static final int STEP = 256;
  private static final GenerationSettings GREEDY = GenerationSettings.greedy().withMaxTokens(8);

  @TempDir private static Path folder;
  private static LoadedModel shallow;
  private static LoadedModel bundled;
  private LoadedModel model;

  @BeforeAll
  static void load() {
    shallow = LoadedModel.load(ShallowModel.write(folder.resolve("shallow.gguf")));
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

  @AfterEach
  void forgetPrefixes() {
    model.prefixes().clear();
    assertThat(model.cacheMemory().usedBytes()).isZero();
  }

  /** The generated text and hashes of the cached vectors. */
  private record Outcome(String text, List<Integer> vectorHashes) {}

  private static Outcome outcome(ModelSession session) {
    Generation generation = session.generate(new int[0], GREEDY, piece -> {});
    return new Outcome(generation.text(), vectorHashes(session.cache()));
  }

  private static List<Integer> vectorHashes(KvCache cache) {
    List<Integer> hashes = new ArrayList<>();
    float[] out = new float[KvCache.TOKENS_PER_PAGE * 256];
    int last = cache.blockOf(cache.length() - 1);
    for (int block = 0; block <= last; block++) {
      int end = Math.min(cache.length(), cache.firstPosition(block + 1));
      int tokens = end - cache.firstPosition(block);
      cache.view(0, block).expandKeys(new ScalarKernels(), 0, tokens, out);
      hashes.add(Arrays.hashCode(out));
      cache.view(1, block).expandValues(new ScalarKernels(), 0, tokens, out);
      hashes.add(Arrays.hashCode(out));
    }
    return hashes;
  }

  private Outcome shared(SessionOptions options, int[] text, int expected) {
    try (ModelSession session = model.newSession(options, text, "somebody")) {
      assertThat(session.cachedTokens()).isEqualTo(expected);
      return outcome(session);
    }
  }

  private Outcome alone(SessionOptions options, int[] text) {
    try (ModelSession session = model.newSession(options)) {
      Generation generation = session.generate(text, GREEDY, piece -> {});
      return new Outcome(generation.text(), vectorHashes(session.cache()));
    }
  }

  private static SessionOptions options(String spec) {
    return SessionOptions.builder().cache(CacheSpec.parse(spec)).build();
  }

  private static int[] text(Random random, int length) {
    return random.ints(length, 300, 4000).toArray();
  }

  private static int[] join(int[] first, int[] second) {
    int[] both = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, both, first.length, second.length);
    return both;
  }

  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(
      strings = {
        "commvq:1,window=0",
        "patternkv:2,as=paper",
        "mixkvq,high=1.9,mid=1.6,as=paper",
        "mead:1.5"
      })
  void soItIsWithOtherSettings(String spec) {
    anAnswerWithAHitIsTheAnswerWithoutOne(spec);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "fp16",
        "kivi:2,k=4,v=1,window=40,sinks=16",
        "patternkv:2,window=0",
        "mixkvq,high=1.9,mid=1.6,window=0",
        "pmkvq:2,budget=1536KiB",
        "zipcache:2",
        "mead:2,profile=none"
      })
  void anAnswerWithAHitIsTheAnswerWithoutOne(String spec) {
    use(spec);
    Random random = new Random(spec.hashCode());
    SessionOptions options = options(spec);
    int[] first = text(random, 2 * STEP + 1 + random.nextInt(STEP - 1));
    int[] second = join(first, text(random, 1 + random.nextInt(STEP)));
    int[] branch = join(Arrays.copyOf(first, STEP + 70), text(random, 1 + random.nextInt(STEP)));
    int[] again = join(Arrays.copyOf(first, STEP + 90), text(random, STEP - 80));
    boolean anywhere = servesAnywhere(spec);
    int whole = 2 * STEP;
    Outcome ofFirst = alone(options, first);
    assertThat(shared(options, first, 0)).isEqualTo(ofFirst);
    assertThat(shared(options, first, anywhere ? first.length - 1 : whole)).isEqualTo(ofFirst);
    assertThat(shared(options, second, anywhere ? first.length : whole))
        .isEqualTo(alone(options, second));
    // Within a text, only prefixes known to be common to several texts are cached.
    assertThat(shared(options, branch, 0)).isEqualTo(alone(options, branch));
    assertThat(shared(options, again, anywhere && branch.length < whole ? STEP + 70 : STEP))
        .isEqualTo(alone(options, again));
  }

  /** Returns whether a cache quantizes all tokens by position alone. */
  private static boolean servesAnywhere(String spec) {
    return spec.startsWith("fp16") || spec.startsWith("bf16") || spec.startsWith("kivi");
  }

  @Test
  void aTextOfAnotherKindOrOtherTokensIsNoHit() {
    use("kivi");
    Random random = new Random(7);
    int[] text = text(random, 600);
    shared(options("kivi:2"), text, 0);
    shared(options("kivi:4"), text, 0);
    shared(options("kivi:2").toBuilder().contextLimit(4096).build(), text, 0);
    int[] other = text.clone();
    other[3]++;
    shared(options("kivi:2"), other, 0);
    shared(options("kivi:2"), text, 599);
  }

  @Test
  void theLastTokenIsComputedEvenIfTheWholeTextIsCached() {
    use("kivi");
    int[] text = text(new Random(8), 2 * STEP);
    shared(options("kivi:2"), text, 0);
    shared(options("kivi:2"), text, 0); // the state after 512 tokens has no logits
    shared(options("kivi:2"), join(text, new int[] {400}), 2 * STEP);
  }

  @Test
  void prefixesCanBeDeletedByOwner() {
    use("kivi");
    long before = model.cacheMemory().usedBytes();
    shared(options("kivi:2"), text(new Random(9), 700), 0);
    assertThat(model.cacheMemory().usedBytes()).isGreaterThan(before);
    model.prefixes().forget("", "somebody else");
    model.prefixes().forget("another tenant", "somebody");
    assertThat(model.cacheMemory().usedBytes()).isGreaterThan(before);
    model.prefixes().forget("", "somebody");
    assertThat(model.cacheMemory().usedBytes()).isEqualTo(before);
  }

  @Test
  void cachedPrefixesAreEvictedByAgeWhenMemoryIsNeeded() {
    use("fp16");
    Random random = new Random(10);
    Path file = folder.resolve("shallow.gguf");
    try (LoadedModel small =
        LoadedModel.load(file, EngineOptions.defaults().withCacheBytes(3 << 20))) {
      int[] oldest = text(random, 600);
      for (int i = 0; i < 6; i++) {
        try (ModelSession session =
            small.newSession(options("fp16"), i == 0 ? oldest : text(random, 600), "a")) {
          session.generate(new int[0], GREEDY, piece -> {});
        }
      }
      PrefixCache.PrefixStats counts = small.prefixes().stats();
      assertThat(counts.evictions()).isPositive();
      assertThat(counts.queries()).isEqualTo(6);
      assertThat(small.cacheMemory().usedBytes()).isLessThanOrEqualTo(small.cacheMemory().limit());
      try (ModelSession session = small.newSession(options("fp16"), oldest, "a")) {
        assertThat(session.cachedTokens()).isZero();
      }
    }
  }

  /** A prompt that is quantized at its end fits in what is reserved for it, with its prefixes. */
  @Test
  void exactPromptsKeepToTheirReservation() {
    use("fp16");
    SessionOptions exact = options("patternkv:2,as=paper");
    int[] text = text(new Random(12), 900);
    long most = model.maxCacheBytes(exact, text.length + GREEDY.maxTokens());
    assertThat(most).isGreaterThan(model.maxCacheBytes(options("patternkv:2"), text.length));
    try (LoadedModel small =
        LoadedModel.load(
            folder.resolve("shallow.gguf"), EngineOptions.defaults().withCacheBytes(most))) {
      for (int i = 0; i < 2; i++) {
        try (ModelSession session = small.newSession(exact, text, "a")) {
          assertThat(outcome(session).text()).isNotEmpty();
        }
      }
      assertThat(small.cacheMemory().peakBytes()).isLessThanOrEqualTo(most);
    }
  }

  @Test
  void allMemoryComesBack() {
    use("kivi");
    long before = model.cacheMemory().usedBytes();
    int[] text = text(new Random(11), 900);
    List<String> specs =
        List.of("kivi:2", "patternkv:2", "mixkvq,high=1.9,mid=1.6", "pmkvq:2,budget=1536KiB");
    for (String spec : specs) {
      shared(options(spec), text, 0);
      shared(options(spec), text, servesAnywhere(spec) ? 899 : 768);
    }
    model.prefixes().clear();
    assertThat(model.cacheMemory().usedBytes()).isEqualTo(before);
  }
}
