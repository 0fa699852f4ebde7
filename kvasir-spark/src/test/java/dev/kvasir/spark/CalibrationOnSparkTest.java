package dev.kvasir.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.codec.commvq.Codebook;
import dev.kvasir.codec.pmkvq.KeyScaleAxis;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.allocate.Sensitivities;
import dev.kvasir.lab.allocate.SensitivitySettings;
import dev.kvasir.lab.calibrate.CalibrationTexts;
import dev.kvasir.lab.codebook.CodebookPlan;
import dev.kvasir.lab.codebook.CodebookTraining;
import dev.kvasir.lab.codebook.HeadId;
import dev.kvasir.lab.codebook.SampleStorage;
import dev.kvasir.lab.codebook.TextVectors;
import dev.kvasir.lab.codebook.TrainingSettings;
import dev.kvasir.lab.smooth.FactorSharing;
import dev.kvasir.lab.smooth.KeySmoothing;
import dev.kvasir.lab.smooth.SmoothingSettings;
import dev.kvasir.lab.text.BundledText;
import dev.kvasir.lab.work.LocalRunner;
import dev.kvasir.lab.work.Runner;
import dev.kvasir.lab.work.RunnerProvider;
import dev.kvasir.lab.work.TaskInputs;
import dev.kvasir.lab.work.WorkerContext;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedModel;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import kvasir.tools.ShallowModel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Checks that a calibration is bit-identical locally and on Spark, where each task is serialized.
 */
class CalibrationOnSparkTest {
  private static final String TEXT = BundledText.filler().substring(0, 2000);
  @TempDir private static Path models;
  private static LoadedModel model;
  private static Runner here;
  private static Runner there;

  @BeforeAll
  static void open() {
    assumeTrue(
        SparkRunnerProvider.runsOnThisJava(), "Spark does not run on Java " + Runtime.version());
    model =
        LoadedModel.load(
            ShallowModel.write(models.resolve("shallow.gguf")),
            EngineOptions.defaults().withThreads(1));
    here = new LocalRunner(WorkerContext.of(model, 2));
    Map<String, String> settings =
        Map.of("spark.ui.enabled", "false", "spark.driver.host", "127.0.0.1");
    there =
        new SparkRunnerProvider()
            .open(
                new RunnerProvider.RunnerRequest(
                    "local[2]", settings, false, TaskInputs.bundled(), model));
  }

  @AfterAll
  static void close() {
    if (there != null) {
      there.close();
      model.close();
    }
  }

  @Test
  void widthsAndFactors() {
    float[] damage = sensitivities(here).floats();
    assertThat(damage).doesNotContain(0);
    assertThat(sensitivities(there).floats()).isEqualTo(damage);
    KeySmoothing expected = smoothing(here);
    KeySmoothing found = smoothing(there);
    assertThat(found.factors()).isDeepEqualTo(expected.factors());
    assertThat(found.layers()).isEqualTo(expected.layers());
  }

  private static CalibrationTexts texts() {
    return CalibrationTexts.choose(model, "text", TEXT, 2, 48, 1);
  }

  private static Sensitivities sensitivities(Runner runner) {
    return Sensitivities.measure(
            runner,
            texts(),
            new SensitivitySettings(Sensitivities.WIDTHS, 1, KeyScaleAxis.CHANNEL),
            ProgressListener.NONE)
        .orElseThrow();
  }

  private static KeySmoothing smoothing(Runner runner) {
    return KeySmoothing.search(
            runner,
            model.config(),
            texts(),
            4,
            Collections.nCopies(model.config().layers(), 2),
            new SmoothingSettings(1, 16, 8, FactorSharing.TIED),
            ProgressListener.NONE)
        .orElseThrow();
  }

  @Test
  void codebooks() {
    Map<HeadId, Codebook> expected = codebooks(here);
    Map<HeadId, Codebook> found = codebooks(there);
    assertThat(found).containsOnlyKeys(expected.keySet());
    expected.forEach(
        (head, codebook) -> {
          assertThat(found.get(head).mean()).isEqualTo(codebook.mean());
          assertThat(found.get(head).stages().rows()).isEqualTo(codebook.stages().rows());
        });
  }

  private static Map<HeadId, Codebook> codebooks(Runner runner) {
    TextVectors vectors =
        TextVectors.read(
                model,
                "text",
                TEXT,
                new TextVectors.Settings(256, 128, 1),
                runner,
                SampleStorage.MEMORY,
                ProgressListener.NONE)
            .orElseThrow();
    Map<HeadId, Codebook> found = new HashMap<>();
    CodebookPlan plan =
        CodebookPlan.of(
            vectors.training().shape(), new TrainingSettings(1, 1, 2, 0.03, 0.001, 1, 1));
    new CodebookTraining(vectors.training(), plan, 1)
        .run(Set.of(), runner, ProgressListener.NONE, found::put);
    return found;
  }
}
