package dev.kvasir.cli.lab;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheBytes;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.lab.eval.Difference;
import dev.kvasir.lab.eval.Difference.Verdict;
import dev.kvasir.lab.eval.Estimate;
import dev.kvasir.lab.eval.Evaluation;
import dev.kvasir.lab.eval.EvaluationSettings;
import dev.kvasir.lab.eval.Footprint;
import dev.kvasir.lab.eval.Proportion;
import dev.kvasir.lab.eval.Row;
import dev.kvasir.lab.eval.Score;
import dev.kvasir.lab.eval.Score.GridCell;
import dev.kvasir.lab.eval.ScoreComparison;
import dev.kvasir.lab.eval.Task;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class EvalTableTest {
  private static final String LONG_SPEC = "kivi:2,group=32,window=256,sinks=4";

  @Test
  void everyColumnIsShownAndNoLineIsWide() {
    String table = table(true, row("fp16"), row(LONG_SPEC));
    assertThat(table)
        .contains(
            "ppl", "kld", "kld p99", "same top", "needle", "records", "chain", "steps", "jsonl")
        .contains("\n" + LONG_SPEC + "\n")
        .doesNotContain("interrupted");
    assertThat(table.lines()).allMatch(line -> line.length() <= 100);
  }

  @Test
  void figuresHaveTheirIntervalsBelow() {
    assertThat(table(true, row("fp16")).lines().toList())
        .anyMatch(line -> line.matches("fp16 +16.00 +8.00 +100 +20.50 +.*"))
        .anyMatch(line -> line.matches(" +19.00-22.00 .*"));
  }

  @Test
  void differencesBeyondErrorAreMarked() {
    Row worse =
        new Row(
            "kivi:2",
            row("").footprint(),
            row("").scores(),
            Map.of(
                Task.NEEDLE,
                new ScoreComparison(
                    new Difference(-0.5, Verdict.WORSE),
                    false,
                    Optional.of(new Difference(-0.4, Verdict.WORSE)))));
    String table = table(true, row("fp16"), worse);
    assertThat(table).containsOnlyOnce("50.0%↓*");
  }

  @Test
  void unfinishedCellsAreDashes() {
    Row undone = new Row("kivi:2", row("").footprint(), Map.of(), Map.of());
    assertThat(table(false, row("fp16"), undone))
        .containsPattern("kivi:2 .* - +- +-")
        .contains("interrupted");
  }

  @Test
  void answersAreShownByContextAndDepth() {
    assertThat(table(true, row("fp16")).lines().toList())
        .anyMatch(line -> line.matches("needle by depth +0-20% .*80-100%"))
        .anyMatch(line -> line.matches("fp16 +1000 +1/2"));
  }

  private static String table(boolean complete, Row... rows) {
    EvaluationSettings settings =
        new EvaluationSettings(
            List.of(CacheSpec.DEFAULT), EnumSet.allOf(Task.class), List.of(1000), 2, 40, 1);
    Evaluation evaluation =
        new Evaluation("small", settings, "a text", "a machine", complete, List.of(rows));
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    new EvalTable(evaluation).print(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private static Row row(String spec) {
    Proportion half = new Proportion(1, 2);
    List<Double> samples = List.of(1.0, 0.0);
    Score found =
        new Score.Retrieval(half.estimate(), samples, List.of(new GridCell(1000, 0, half)));
    Map<Task, Score> scores = new EnumMap<>(Task.class);
    scores.put(Task.PPL, new Score.Perplexity(new Estimate(20.5, 19, 22), samples));
    scores.put(Task.KLD, new Score.Divergence(new Estimate(0.01, 0.005, 0.02), 0.3, half, samples));
    scores.put(Task.NEEDLE, found);
    scores.put(Task.RECORDS, found);
    scores.put(
        Task.CHAIN,
        new Score.Chain(half.estimate(), samples, new Estimate(30, 20, 40), 40, samples));
    scores.put(Task.JSONL, new Score.Answers(half.estimate(), samples));
    return new Row(
        spec,
        new Footprint(1000, 0, 8 << 20, 16, 100, new CacheBytes(0, 0, 8 << 20, 0, 0)),
        scores,
        Map.of());
  }
}
