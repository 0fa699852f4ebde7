package dev.kvasir.lab.eval;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.kernel.FloatActivationKernels;
import dev.kvasir.model.KeyOutliers;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedModel;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import kvasir.tools.ShallowModel;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests conditions of an evaluation that differ from normal use. */
class TestBedTest {
  @TempDir private static Path models;
  private static Path shallow;

  @BeforeAll
  static void write() {
    shallow = ShallowModel.write(models.resolve("shallow.gguf"));
  }

  private static EvaluationSettings settings(Set<Task> tasks, String... specs) {
    List<CacheSpec> kinds = Arrays.stream(specs).map(CacheSpec::parse).toList();
    return new EvaluationSettings(kinds, tasks, List.of(520), 2, 4, 1).untimed();
  }

  private static List<Row> rows(EngineOptions options, EvaluationSettings settings) {
    Sources sources = Sources.bundled(true);
    try (LoadedModel model = LoadedModel.load(shallow, options)) {
      return new CacheEvaluator(model, settings, sources).run((done, total) -> {}).rows();
    }
  }

  private static double divergence(Row row) {
    return row.scores().get(Task.KLD).estimate().value();
  }

  @Test
  void outliersHurtKeysThatAreQuantizedByToken() {
    EvaluationSettings settings =
        settings(
            EnumSet.of(Task.KLD, Task.PPL), "qserve:2,window=0,sinks=0", "kivi:2,window=0,sinks=0");
    List<Row> plain = rows(EngineOptions.defaults(), settings);
    List<Row> scaled =
        rows(EngineOptions.defaults().withOutliers(new KeyOutliers(4, 16, 1)), settings);
    assertThat(scaled.getFirst().scores().get(Task.PPL))
        .as("fp16 computes the same")
        .isEqualTo(plain.getFirst().scores().get(Task.PPL));
    assertThat(divergence(scaled.get(1))).isGreaterThan(1.5 * divergence(plain.get(1)));
    assertThat(divergence(scaled.get(2)))
        .as("scales of channels absorb the factor")
        .isBetween(0.8 * divergence(plain.get(2)), 1.25 * divergence(plain.get(2)));
  }

  @Test
  void floatActivationsLowerTheFloorOfDivergence() {
    EngineOptions bytes = EngineOptions.defaults();
    EngineOptions floats = bytes.withKernels(new FloatActivationKernels(bytes.kernels()));
    EvaluationSettings settings = settings(EnumSet.of(Task.KLD), "fp32");
    double floor = divergence(rows(bytes, settings).getLast());
    assertThat(divergence(rows(floats, settings).getLast())).isBetween(0.0, floor / 10);
  }

  @Test
  void budgetOfALongerTextLeavesMoreBits() {
    EvaluationSettings settings =
        settings(EnumSet.of(Task.KLD), "pmkvq:2,window=0,sinks=0,widths=same");
    Row own = rows(EngineOptions.defaults(), settings).getLast();
    Row longer = rows(EngineOptions.defaults(), settings.withBudgetContext(1300)).getLast();
    assertThat(longer.footprint().bitsPerValue()).isGreaterThan(own.footprint().bitsPerValue());
    assertThat(divergence(longer)).isLessThan(divergence(own));
  }

  @ParameterizedTest
  @ValueSource(strings = {"chunked", "exact"})
  void everyTaskRunsWithoutSinksAndWindow(String prefill) {
    boolean isExact = prefill.equals("exact");
    Set<Task> tasks = EnumSet.complementOf(EnumSet.of(Task.PROSE, Task.JSONL));
    if (isExact) {
      tasks.remove(Task.DRIFT); // long texts, which begin after the prompt
    }
    EvaluationSettings settings =
        settings(
            tasks,
            "kivi:2,sinks=0,window=0",
            "patternkv:2,rope=static,sinks=0,window=0",
            "mixkvq,high=2.8,mid=2,sinks=0,window=0",
            "pmkvq:2,sinks=0,window=0,widths=same");
    Reading reading = isExact ? Reading.exact(300) : Reading.CHUNKED;
    EvaluationSettings shorter = settings.withContexts(List.of(300)).withReading(reading);
    assertThat(rows(EngineOptions.defaults(), shorter))
        .hasSize(5)
        .allSatisfy(row -> assertThat(row.scores()).containsOnlyKeys(tasks));
  }
}
