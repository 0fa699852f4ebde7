package dev.kvasir.family;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.SessionOptions;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.GenerationSettings;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.runtime.ModelSession;
import dev.kvasir.store.StoreAddress;
import dev.kvasir.store.TieredStore;
import dev.kvasir.store.prefix.StoredPrefixes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Prefixes of another process, from a folder that both share: with recurrent states, and with heads
 * of different sizes.
 */
class HybridStoreTest {
  private static final int STEP = 256;
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final GenerationSettings GREEDY = GenerationSettings.greedy().withMaxTokens(8);

  @TempDir private Path folder;

  /** The generated text and the number of prompt tokens without prefill. */
  private record Outcome(String text, int cachedTokens) {}

  /** A process with a model and the store. */
  private final class Process implements AutoCloseable {
    private final LoadedModel model;
    private final TieredStore store;
    private final StoredPrefixes prefixes;

    Process(Path file) {
      this.model = LoadedModel.load(file, EngineOptions.defaults());
      this.store =
          TieredStore.open(
              List.of(StoreAddress.parse(folder.resolve("store").toString())), sentence -> {});
      this.prefixes = new StoredPrefixes(model, store);
      model.prefixes().setRemote(prefixes);
    }

    Outcome answer(String spec, int[] text) {
      SessionOptions options = SessionOptions.builder().cache(CacheSpec.parse(spec)).build();
      try (ModelSession session = model.newSession(options, text, null)) {
        int cached = session.cachedTokens();
        return new Outcome(session.generate(new int[0], GREEDY, piece -> {}).text(), cached);
      }
    }

    @Override
    public void close() {
      assertThat(prefixes.close(LONG)).isTrue();
      assertThat(store.flush(LONG)).isTrue();
      prefixes.close();
      store.close();
      model.close();
    }
  }

  private static int[] text(Random random, int length) {
    return random.ints(length, 0, FamilyModel.VOCABULARY).toArray();
  }

  private static int[] join(int[] first, int[] second) {
    int[] both = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, both, first.length, second.length);
    return both;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ' ',
      value = {"LFM2 patternkv:2,window=0", "QWEN35 fp16", "GEMMA4 kivi:2,window=40"})
  void anAnswerWithAStoredPrefixIsTheAnswerWithoutIt(Family family, String spec) {
    Path file = family.model().withVocabulary().writeGguf(folder.resolve("model.gguf"));
    Random random = new Random(family.ordinal());
    int whole = 2 * STEP;
    int[] first = text(random, whole + 90);
    int[] longer = join(first, text(random, 70));
    int[] within = join(Arrays.copyOf(first, whole + 40), text(random, 60));
    Outcome ofLonger;
    Outcome ofWithin;
    try (Process alone = new Process(file)) {
      alone.model.prefixes().setRemote(null);
      ofLonger = alone.answer(spec, longer);
      alone.model.prefixes().clear();
      ofWithin = alone.answer(spec, within);
    }
    try (Process writer = new Process(file)) {
      writer.answer(spec, first);
    }
    try (Process reader = new Process(file)) {
      Outcome found = reader.answer(spec, longer);
      assertThat(found.text()).isEqualTo(ofLonger.text());
      assertThat(found.cachedTokens()).isGreaterThanOrEqualTo(whole);
      assertThat(reader.prefixes.counts().hits()).isEqualTo(1);
    }
    // The text differs after the last whole step, the last position whose states are known.
    int reused = HybridFamilies.ALL.contains(family) ? whole : whole + 40;
    try (Process reader = new Process(file)) {
      Outcome found = reader.answer(spec, within);
      assertThat(found.text()).isEqualTo(ofWithin.text());
      assertThat(found.cachedTokens()).isEqualTo(reused);
      assertThat(reader.prefixes.counts().hits()).isEqualTo(1);
      assertThat(reader.prefixes.counts().damaged()).isZero();
    }
  }
}
