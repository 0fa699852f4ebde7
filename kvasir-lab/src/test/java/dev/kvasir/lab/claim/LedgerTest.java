package dev.kvasir.lab.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cache.CacheBytes;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.claim.Ledger.Entry;
import dev.kvasir.lab.eval.Estimate;
import dev.kvasir.lab.eval.Evaluation;
import dev.kvasir.lab.eval.EvaluationJson;
import dev.kvasir.lab.eval.EvaluationSettings;
import dev.kvasir.lab.eval.Footprint;
import dev.kvasir.lab.eval.Proportion;
import dev.kvasir.lab.eval.Row;
import dev.kvasir.lab.eval.Score;
import dev.kvasir.lab.eval.Task;
import dev.kvasir.lab.report.MeasurementsFile;
import dev.kvasir.lab.report.Provenance;
import dev.kvasir.lab.report.ResultsFile;
import dev.kvasir.lab.report.StandardTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LedgerTest {
  private static final Path REPOSITORY = Path.of("..");
  private static final Provenance ORIGIN =
      new Provenance("kvasir compare", "0.0", Optional.empty(), Instant.EPOCH);

  @TempDir private Path folder;

  @Test
  void documentMatchesTheMeasurementsOfTheRepository() throws IOException {
    Path results = REPOSITORY.resolve("docs/results");
    List<Entry> entries = new Ledger(results).entries();
    assertThat(entries).hasSizeGreaterThanOrEqualTo(35);
    assertThat(Files.readString(REPOSITORY.resolve("docs/claims.md")))
        .as("written by ./kvasir claims --out docs/claims.md")
        .isEqualTo(LedgerPage.text(entries));
  }

  @Test
  void aClaimIsShownWithThePapersFiguresAndTheCommandsOfItsScores() {
    Path results = REPOSITORY.resolve("docs/results");
    assertThat(LedgerText.full(new Ledger(results).entry(5), Path.of("docs/results")))
        .startsWith(" 5  PatternKV, Table 7: At 4 bits it loses almost nothing")
        .contains("the paper: 0.08% of the score", "ppl 19.13 against 19.10, ratio 1.002 (0.998")
        .contains("      kvasir compare\n", " --model MODEL --json docs/results/tinyllama/");
    assertThat(LedgerText.full(new Ledger(results).entry(9), Path.of("docs/results")))
        .contains("    The values of sink tokens are close to zero");
    assertThat(LedgerText.full(new Ledger(folder).entry(9), folder)).contains("    not tried");
  }

  @Test
  void everyExperimentTableIsAStandardTable() {
    new Ledger(folder)
        .entries().stream()
            .flatMap(entry -> entry.claim().trials().stream())
            .map(Trial::experiment)
            .filter(Experiment::isTable)
            .forEach(
                experiment ->
                    assertThat(StandardTable.named(experiment.name()).name())
                        .isEqualTo(experiment.name()));
  }

  @Test
  void withoutMeasurementsNothingIsJudged() {
    assertThat(new Ledger(folder).entries()).allMatch(entry -> entry.results().isEmpty());
    assertThat(new Ledger(folder).entries().getFirst().verdict(TestBed.BUNDLED))
        .isEqualTo(Verdict.NOT_TRIED);
    assertThatThrownBy(() -> Ledger.trials(1000))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("claim 1000 is unknown; known are 1 to");
  }

  @Test
  void rowsAreComparedBlockByBlock() {
    measure(row("fp16", 0.0), row("near", 0.1), row("alike", 0.1), row("far", 0.4));
    assertThat(judge(RowCheck.better("near", "far", Task.KLD)))
        .isEqualTo(
            Finding.of(Verdict.HOLDS, "kld 0.1000 against 0.4000, ratio", "0.25 (0.25 to 0.25)"));
    assertThat(judge(RowCheck.better("far", "near", Task.KLD)).verdict()).isEqualTo(Verdict.FAILS);
    assertThat(judge(RowCheck.better("near", "alike", Task.KLD)).verdict()).isEqualTo(Verdict.OPEN);
    assertThat(judge(RowCheck.atMost(1.1, "near", "alike", Task.KLD)).verdict())
        .isEqualTo(Verdict.HOLDS);
    assertThat(judge(RowCheck.lowerUpTo(0.5, "near", "far", Task.KLD)).verdict())
        .isEqualTo(Verdict.HOLDS);
    assertThat(judge(RowCheck.ordered(Task.KLD, "near", "alike", "far")).verdict())
        .isEqualTo(Verdict.HOLDS);
    assertThat(judge(RowCheck.ordered(Task.KLD, "far", "near")).verdict()).isEqualTo(Verdict.FAILS);
    assertThat(judge(RowCheck.atLeast(4, "far", "near", Task.KLD)).verdict())
        .isEqualTo(Verdict.HOLDS);
    assertThat(judge(RowCheck.bytesAtMost(1, "near", "far")))
        .extracting(Finding::measured)
        .isEqualTo("3.00 bits against 3.00, exact");
  }

  @Test
  void unmeasuredRowsAreNotJudged() {
    measure(row("fp16", 0.0), row("near", 0.1));
    assertThat(judge(RowCheck.better("near", "missing", Task.KLD))).isEqualTo(Finding.NONE);
    assertThat(judge(RowCheck.better("near", "fp16", Task.CHAIN))).isEqualTo(Finding.NONE);
    assertThat(judge(NumberCheck.atLeast("speed", 1, "%.1f"))).isEqualTo(Finding.NONE);
    assertThat(
            judge(
                    RowCheck.all(
                        RowCheck.atMost(1, "near", "near", Task.KLD),
                        RowCheck.better("near", "missing", Task.KLD)))
                .verdict())
        .isEqualTo(Verdict.NOT_TRIED);
  }

  @Test
  void aShareOfAnswersMayBeLostWithinTheMargin() {
    measure(answers("fp16", 1, 1, 1, 1), answers("same", 1, 1, 1, 1), answers("none", 0, 0, 0, 0));
    assertThat(judge(RowCheck.answersWithin(0.05, "same", "fp16", Task.CHAIN)))
        .isEqualTo(Finding.of(Verdict.HOLDS, "chain 100% against 100%,", "+0 points (+0 to +0)"));
    assertThat(judge(RowCheck.answersWithin(0.05, "none", "fp16", Task.CHAIN)).verdict())
        .isEqualTo(Verdict.FAILS);
  }

  @Test
  void aMarginInsideTheIntervalDecidesNothing() {
    measure(answers("fp16", 1, 1, 1, 1), answers("most", 1, 0, 1, 1));
    assertThat(judge(RowCheck.answersWithin(0.05, "most", "fp16", Task.CHAIN)).verdict())
        .isEqualTo(Verdict.OPEN);
  }

  @Test
  void aNumberIsJudgedByItsInterval() {
    Measurements measurements =
        numbers(Map.of("speed", 1.5, "speed, low", 1.45, "speed, high", 1.6, "lonely", 1.5));
    assertThat(NumberCheck.atLeast("speed", 1.4, "%.2f times").judge(measurements))
        .isEqualTo(new Finding(Verdict.HOLDS, "1.50 times (1.45 to 1.60)"));
    assertThat(NumberCheck.atLeast("speed", 1.5, "%.2f").judge(measurements).verdict())
        .isEqualTo(Verdict.OPEN);
    assertThat(NumberCheck.atMost("speed", 1.4, "%.2f").judge(measurements).verdict())
        .isEqualTo(Verdict.FAILS);
    assertThat(NumberCheck.atLeast("lonely", 1, "%.2f times").judge(measurements))
        .isEqualTo(new Finding(Verdict.POINT, "1.50 times"));
    assertThat(NumberCheck.countAtLeast("lonely", 1, "%.2f times").judge(measurements))
        .isEqualTo(new Finding(Verdict.HOLDS, "1.50 times, exact"));
  }

  @Test
  void numbersAreCompared() {
    Measurements measurements =
        numbers(Map.of("layer 0", 3.0, "layer 1", 0.5, "layer 2", 2.0, "layer 3", 4.0), 0.1);
    assertThat(
            NumberCheck.timesAtLeast(4, "layer 0", "layer 1", "%.1f times")
                .judge(measurements)
                .verdict())
        .isEqualTo(Verdict.HOLDS);
    assertThat(
            NumberCheck.timesAtMost(2, "layer 2", "layer 1", "%.1f").judge(measurements).verdict())
        .isEqualTo(Verdict.FAILS);
    assertThat(NumberCheck.timesAtMost(3, "layer 2", "layer 9", "%.1f").judge(measurements))
        .isEqualTo(Finding.NONE);
    assertThat(
            NumberCheck.decreasing("%.1f", "layer 0", "layer 2", "layer 1")
                .judge(measurements)
                .verdict())
        .isEqualTo(Verdict.HOLDS);
    assertThat(
            NumberCheck.decreasing("%.1f", "layer 0", "layer 1", "layer 2")
                .judge(measurements)
                .verdict())
        .isEqualTo(Verdict.FAILS);
    assertThat(NumberCheck.deepLayersAreLargest("layer %d", "%.1f").judge(measurements).verdict())
        .isEqualTo(Verdict.HOLDS);
    assertThat(NumberCheck.layersWithin("layer %d", 2.5, "%.1f").judge(measurements).verdict())
        .isEqualTo(Verdict.FAILS);
    assertThat(NumberCheck.layersWithin("head %d", 2.5, "%.1f").judge(measurements))
        .isEqualTo(Finding.NONE);
  }

  private Measurements numbers(Map<String, Double> numbers) {
    MeasurementsFile.write(folder.resolve("numbers.json"), numbers, ORIGIN);
    return Measurements.read(folder.resolve("numbers.json")).orElseThrow();
  }

  private Measurements numbers(Map<String, Double> numbers, double error) {
    Map<String, Double> all = new HashMap<>(numbers);
    numbers.forEach(
        (name, value) -> {
          all.put(name + MeasurementsFile.LOW, value - error);
          all.put(name + MeasurementsFile.HIGH, value + error);
        });
    return numbers(all);
  }

  @Test
  void sameSpecIsComparedAcrossExperiments() {
    Experiment one = Experiment.json("one", "eval");
    EvaluationJson.write(evaluation(row("same", 0.4)), one.file(folder));
    EvaluationJson.write(evaluation(row("same", 0.1)), folder.resolve("four.json"));
    Measurements four = Measurements.read(folder.resolve("four.json")).orElseThrow();
    assertThat(RowCheck.betterThanIn(one, "same", "same", Task.KLD).judge(four).verdict())
        .isEqualTo(Verdict.HOLDS);
    assertThat(RowCheck.worseThanIn(one, "same", "same", Task.KLD).judge(four).verdict())
        .isEqualTo(Verdict.FAILS);
    Experiment none = Experiment.json("none", "eval");
    assertThat(RowCheck.betterThanIn(none, "same", "same", Task.KLD).judge(four))
        .isEqualTo(Finding.NONE);
  }

  /** Allows claims to be checked for other models measured by 'kvasir eval'. */
  @Test
  void bareEvaluationHasRows() {
    EvaluationJson.write(evaluation(row("near", 0.1), row("far", 0.4)), folder.resolve("own.json"));
    Measurements measurements = Measurements.read(folder.resolve("own.json")).orElseThrow();
    assertThat(RowCheck.better("near", "far", Task.KLD).judge(measurements).verdict())
        .isEqualTo(Verdict.HOLDS);
  }

  @Test
  void theCommandsOfAClaimNeedNothingElse() {
    for (Entry entry : new Ledger(folder).entries()) {
      for (Trial trial : entry.claim().trials()) {
        Set<String> written = new HashSet<>();
        for (List<String> command : trial.experiment().commands(folder, Optional.empty())) {
          int profile = command.indexOf("--profile");
          if (profile >= 0) {
            assertThat(written).contains(command.get(profile + 1));
          }
          int out = command.indexOf("--out");
          if (out >= 0) {
            written.add(command.get(out + 1));
          }
        }
      }
    }
  }

  /** Figures of a GPU must not replace those of the bundled model. */
  @Test
  void differentCommandsWriteDifferentFiles() {
    Map<String, List<String>> writers = new HashMap<>();
    for (Entry entry : new Ledger(folder).entries()) {
      for (Trial trial : entry.claim().trials()) {
        List<String> last = trial.experiment().commands(folder, Optional.empty()).getLast();
        int json = last.indexOf("--json");
        if (json >= 0) {
          assertThat(writers.computeIfAbsent(last.get(json + 1), file -> last)).isEqualTo(last);
        }
      }
    }
  }

  @Test
  void aTableIsMeasuredOnAnotherModelByEval() {
    List<String> command =
        Experiment.table("patternkv")
            .commands(folder, Optional.of(Path.of("other.gguf")))
            .getFirst();
    assertThat(command)
        .startsWith("eval", "--tasks", "kld,prose")
        .containsSequence("--model", "other.gguf");
  }

  @Test
  void anotherModelIsCalibratedFirst() {
    List<List<String>> commands =
        Experiment.table("mixkvq").commands(folder, Optional.of(Path.of("other.gguf")));
    assertThat(commands.getFirst()).containsExactly("tune", "--model", "other.gguf");
    assertThat(commands.getLast()).startsWith("eval");
    assertThat(Experiment.table("mixkvq").commands(folder, Optional.empty()))
        .containsExactly(List.of("compare", "mixkvq"));
  }

  private Finding judge(Check check) {
    return check.judge(Measurements.read(folder.resolve("results/table.json")).orElseThrow());
  }

  private void measure(Row... rows) {
    ResultsFile.at(folder.resolve("results.md"), "table").write(evaluation(rows), ORIGIN);
  }

  private static Evaluation evaluation(Row... rows) {
    List<CacheSpec> specs = new ArrayList<>();
    EvaluationSettings settings =
        new EvaluationSettings(specs, EnumSet.of(Task.KLD), List.of(1000), 1, 1, 1);
    return new Evaluation("small", settings, "a text", "2 processors", true, List.of(rows));
  }

  private static Row answers(String spec, double... right) {
    List<Double> samples = Arrays.stream(right).boxed().toList();
    double mean = Arrays.stream(right).average().orElseThrow();
    Estimate estimate = new Estimate(mean, mean, mean);
    return new Row(
        spec,
        new Footprint(100, 0, 10, 3, Double.NaN, new CacheBytes(0, 0, 10, 0, 0)),
        Map.of(Task.CHAIN, new Score.Chain(estimate, samples, estimate, 40, samples)),
        Map.of());
  }

  private static Row row(String spec, double divergence) {
    List<Double> blocks = List.of(divergence, divergence, divergence, divergence);
    return new Row(
        spec,
        new Footprint(100, 0, 10, 3, Double.NaN, new CacheBytes(0, 0, 10, 0, 0)),
        Map.of(
            Task.KLD,
            new Score.Divergence(
                new Estimate(divergence, divergence, divergence), 1, new Proportion(1, 2), blocks)),
        Map.of());
  }
}
