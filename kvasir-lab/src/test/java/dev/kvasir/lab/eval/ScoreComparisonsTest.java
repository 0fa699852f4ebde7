package dev.kvasir.lab.eval;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheBytes;
import dev.kvasir.lab.eval.Difference.Verdict;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ScoreComparisonsTest {
  private static final Footprint FOOTPRINT =
      new Footprint(1, 1, 1, 1, 1, new CacheBytes(1, 0, 0, 0, 0));

  private static List<Double> answers(int right, int wrong) {
    return Stream.concat(
            Collections.nCopies(right, 1.0).stream(), Collections.nCopies(wrong, 0.0).stream())
        .toList();
  }

  private static Row row(String name, int right, int wrong) {
    List<Double> samples = answers(right, wrong);
    Score score = new Score.Answers(Proportion.of(samples).estimate(), samples);
    return new Row(name, FOOTPRINT, Map.of(Task.JSONL, score), Map.of());
  }

  private static Row text(String name, double... blocks) {
    List<Double> samples = Arrays.stream(blocks).boxed().toList();
    Score score = new Score.Perplexity(Means.estimate(samples, Math::exp), samples);
    return new Row(name, FOOTPRINT, Map.of(Task.PPL, score), Map.of());
  }

  private static Verdict fromReference(Row reference, Row row, Task task) {
    return ScoreComparisons.of(List.of(reference, row))
        .get(1)
        .comparisons()
        .get(task)
        .fromReference()
        .verdict();
  }

  @Test
  void sixLostAnswersAreSignificantAndFiveAreNot() {
    Row reference = row("fp16", 20, 0);
    assertThat(fromReference(reference, row("a", 15, 5), Task.JSONL))
        .isEqualTo(Verdict.WITHIN_ERROR);
    assertThat(fromReference(reference, row("a", 14, 6), Task.JSONL)).isEqualTo(Verdict.WORSE);
    assertThat(fromReference(row("fp16", 0, 20), row("a", 6, 14), Task.JSONL))
        .isEqualTo(Verdict.BETTER);
  }

  @Test
  void theSignTestWorksForThousandsOfQuestions() {
    List<Double> balanced = Collections.nCopies(2000, 1.0);
    List<Double> mixed = IntStream.range(0, 4000).mapToObj(i -> i % 2 == 0 ? 1.0 : -1.0).toList();
    assertThat(ScoreComparisons.isSignificantBySignTest(balanced)).isTrue();
    assertThat(ScoreComparisons.isSignificantBySignTest(mixed)).isFalse();
  }

  /** Blocks differ far more than rows do, which only a paired comparison can reveal. */
  @Test
  void textsAreComparedBlockByBlock() {
    Row reference = text("fp16", 2, 3, 4, 5, 6);
    assertThat(fromReference(reference, text("a", 2.1, 3.1, 4.2, 5.1, 6.1), Task.PPL))
        .isEqualTo(Verdict.WORSE);
    assertThat(fromReference(reference, text("a", 2.1, 2.9, 4.1, 4.9, 6), Task.PPL))
        .isEqualTo(Verdict.WITHIN_ERROR);
    assertThat(fromReference(reference, text("a", 1.9, 2.9, 3.8, 4.9, 5.9), Task.PPL))
        .isEqualTo(Verdict.BETTER);
    assertThat(fromReference(reference, reference, Task.PPL)).isEqualTo(Verdict.WITHIN_ERROR);
  }

  @Test
  void nanIsWorse() {
    Row broken = text("a", Double.NaN, Double.NaN, Double.NaN);
    assertThat(fromReference(text("fp16", 2, 3, 4), broken, Task.PPL)).isEqualTo(Verdict.WORSE);
  }

  @Test
  void theBestRowIsNeverTheReference() {
    List<Row> rows =
        ScoreComparisons.of(List.of(row("fp16", 20, 0), row("a", 2, 18), row("b", 19, 1)));
    assertThat(rows)
        .extracting(row -> row.comparisons().get(Task.JSONL).best())
        .containsExactly(false, false, true);
    assertThat(rows.get(0).comparisons().get(Task.JSONL).fromBest()).isEmpty();
    assertThat(rows.get(1).comparisons().get(Task.JSONL).fromBest())
        .hasValueSatisfying(best -> assertThat(best.verdict()).isEqualTo(Verdict.WORSE));
  }
}
