package dev.kvasir.lab.tune;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.mixkvq.MixkvqProfile;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.eval.Sources;
import dev.kvasir.lab.eval.Task;
import dev.kvasir.lab.search.Trial;
import dev.kvasir.lab.text.BundledText;
import dev.kvasir.profile.Profile;
import dev.kvasir.runtime.LoadedModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import kvasir.tools.ShallowModel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ThresholdTuningTest {
  private static final int CONTEXT = 520;
  private static final ProgressListener NOBODY = (done, total) -> {};

  @TempDir private static Path models;
  private static LoadedModel model;
  private static SalienceSurvey survey;

  @TempDir Path folder;

  @BeforeAll
  static void load() {
    model = LoadedModel.load(ShallowModel.write(models.resolve("shallow.gguf")));
    survey = SalienceSurvey.measure(model, BundledText.filler(), CONTEXT, NOBODY).orElseThrow();
  }

  @AfterAll
  static void close() {
    model.close();
  }

  @Test
  void surveyCoversEveryChannel() {
    int channels = (int) model.config().cacheShape().valuesPerToken() / 2;
    assertThat(survey.channels()).hasSize(channels);
    assertThat(survey.byQueries().thresholdFor(0.5)).isPositive();
    assertThat(survey.byQueries().thresholdFor(0.05))
        .isGreaterThan(survey.byQueries().thresholdFor(0.5));
    assertThat(survey.correlation(0)).isBetween(-1.0, 1.0);
  }

  /** The second run reads all trials from the journal and runs none. */
  @Test
  void finishedTrialsAreSaved() throws Exception {
    TuneSettings settings = settings(2);
    Path file = folder.resolve("trials.json");
    TuningResult first = tuning(settings, file).run(survey, NOBODY);
    assertThat(first.complete()).isTrue();
    assertThat(first.trials()).hasSize(2);
    TuningResult again =
        tuning(settings, file)
            .run(
                survey,
                (done, total) -> {
                  throw new AssertionError("a trial was made again");
                });
    assertThat(again.trials()).isEqualTo(first.trials());
    assertThat(first.trials())
        .allSatisfy(trial -> assertThat(TuningResult.bits(trial)).isBetween(3.0, 9.0));
    Profile profile = first.profile().addTo(Profile.empty("model"));
    assertThat(MixkvqProfile.of(profile).tuned()).isEqualTo(first.thresholds(first.pick()));
    Files.writeString(file, "[");
    assertThatThrownBy(() -> tuning(settings, file).run(survey, NOBODY))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("trials.json");
  }

  @Test
  void cancelledSearchKeepsFinishedTrials() {
    TuningResult none =
        tuning(settings(2), folder.resolve("stopped.json"))
            .run(
                survey,
                new ProgressListener() {
                  @Override
                  public void progress(double done, double total) {}

                  @Override
                  public boolean isCancelled() {
                    return true;
                  }
                });
    assertThat(none.complete()).isFalse();
    assertThat(none.trials()).isEmpty();
  }

  @Test
  void bestTrialWithinTheBitsIsPicked() {
    Trial rich = trial(0.001, 4.0);
    Trial fitting = trial(0.002, 3.3);
    Trial poor = trial(0.009, 3.1);
    assertThat(tuned(rich, poor, fitting).pick()).isEqualTo(fitting);
    assertThat(tuned(rich).pick()).isEqualTo(rich);
    assertThat(tuned(fitting, trial(0.002, 3.2), poor).pick()).isEqualTo(trial(0.002, 3.2));
  }

  @Test
  void givenThresholdsAreRejected() {
    for (String spec : List.of("kivi:2", "mixkvq,high=3", "mixkvq,salience=error")) {
      assertThatThrownBy(
              () -> new TuneSettings(CacheSpec.parse(spec), Task.KLD, CONTEXT, 1, 2, 3.4, 1))
          .isInstanceOf(InvalidInputException.class)
          .hasMessageContaining(spec);
    }
  }

  private static Trial trial(double loss, double bits) {
    return new Trial(List.of(0.01, 0.1), List.of(loss, bits));
  }

  private static TuningResult tuned(Trial... trials) {
    return new TuningResult(settings(3), survey, List.of(trials), true);
  }

  private static TuneSettings settings(int trials) {
    return new TuneSettings(CacheSpec.parse("mixkvq"), Task.KLD, CONTEXT, 1, trials, 3.4, 1);
  }

  private static ThresholdTuning tuning(TuneSettings settings, Path file) {
    Sources sources = Sources.bundled(true);
    return new ThresholdTuning(
        model, settings, sources, new TuneJournal(file, settings, "model", sources.text()));
  }
}
