package dev.kvasir.family;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.mead.TableKind;
import dev.kvasir.engine.Batch;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.codebook.SampleFolder;
import dev.kvasir.lab.mead.MeadCalibration;
import dev.kvasir.lab.mead.MeadSettings;
import dev.kvasir.lab.mead.MeadTexts;
import dev.kvasir.lab.mead.MetricJournal;
import dev.kvasir.lab.work.LocalRunner;
import dev.kvasir.lab.work.WorkerContext;
import dev.kvasir.profile.Profile;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedModel;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Calibrates mead for families whose layers differ in RoPE or window, or have soft caps, scaled
 * residuals, learned sinks or experts, and reads a text with the profile.
 */
class CalibratedFamilyTest {
  private static final int TEXT = 400;
  private static final int PROMPT = 384;
  private static final int TEXTS = 4;
  private static final long SEED = 11;

  @TempDir private Path folder;

  /** They share their parts with the others. */
  @Tag("thorough")
  @ParameterizedTest
  @EnumSource(names = {"GEMMA2", "GEMMA3_WIDE", "GRANITE", "OLMO3", "SMOLLM3"})
  void soTheyDoInOtherFamilies(Family family) {
    moreBitsDivergeLess(family);
  }

  @ParameterizedTest
  @EnumSource(names = {"GEMMA3", "PHI3", "QWEN3_MOE", "GPT_OSS"})
  void moreBitsDivergeLess(Family family) {
    Path file = family.model().withVocabulary().writeGguf(folder.resolve("model.gguf"));
    try (LoadedModel model = LoadedModel.load(file, EngineOptions.defaults().withThreads(1))) {
      Optional<Profile> profile = Optional.of(calibrated(model));
      int[] text = text(model, new Random(SEED - 1));
      float[][] expected = logits(model, "fp16", profile, text);
      double few = divergence(expected, logits(model, "mead:1,window=0", profile, text));
      double many = divergence(expected, logits(model, "mead:6,window=0", profile, text));
      assertThat(few).isPositive().isFinite();
      assertThat(many).isLessThan(few / 10);
    }
  }

  private static double divergence(float[][] expected, float[][] found) {
    return KlDivergence.mean(expected, found);
  }

  private static int[] text(LoadedModel model, Random random) {
    return random.ints(TEXT, 0, model.config().vocabulary()).toArray();
  }

  private Profile calibrated(LoadedModel model) {
    MeadSettings settings =
        new MeadSettings(TEXT, TEXTS, 0, 2, 1, new TreeSet<>(EnumSet.of(TableKind.OFF)), SEED);
    Random random = new Random(SEED);
    List<int[]> prose = IntStream.range(0, TEXTS).mapToObj(i -> text(model, random)).toList();
    MetricJournal journal =
        new MetricJournal(
            folder.resolve("journal"), model.fingerprint(), "test", model.config().cacheShape());
    try (WorkerPool workers = new WorkerPool(1);
        LocalRunner runner = new LocalRunner(WorkerContext.of(model, 1));
        SampleFolder vectors = new SampleFolder(folder.resolve("vectors"), "test")) {
      return new MeadCalibration(model, settings, workers, runner, phase -> ProgressListener.NONE)
          .run(
              new MeadTexts(prose, List.of(), settings),
              journal,
              vectors,
              Profile.empty(model.fingerprint()))
          .orElseThrow();
    }
  }

  /** Returns the logits of what follows a prompt. */
  private static float[][] logits(
      LoadedModel model, String spec, Optional<Profile> profile, int[] text) {
    try (KvCache cache = model.newCache(CacheSpec.parse(spec), profile, TEXT)) {
      step(model, cache, Arrays.copyOf(text, PROMPT));
      return step(model, cache, Arrays.copyOfRange(text, PROMPT, TEXT));
    }
  }

  private static float[][] step(LoadedModel model, KvCache cache, int[] tokens) {
    Batch batch = new Batch();
    for (int token : tokens) {
      batch.add(cache, token, true);
    }
    model.forward(batch);
    float[][] rows = new float[tokens.length][];
    for (int i = 0; i < tokens.length; i++) {
      int at = batch.logitsAt(i);
      rows[i] = Arrays.copyOfRange(batch.logits(), at, at + batch.vocabulary());
    }
    return rows;
  }
}
