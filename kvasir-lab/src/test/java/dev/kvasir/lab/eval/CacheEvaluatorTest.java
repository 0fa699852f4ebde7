package dev.kvasir.lab.eval;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.eval.Difference.Verdict;
import dev.kvasir.lab.task.WordProblem;
import dev.kvasir.runtime.LoadedModel;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import kvasir.tools.ShallowModel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CacheEvaluatorTest {
  /** All tasks except drift, which is slow, and those that need a file. */
  private static final Set<Task> OWN_TASKS =
      EnumSet.complementOf(EnumSet.of(Task.JSONL, Task.DRIFT));

  @TempDir private static Path models;

  /** Solves the tasks. */
  private static LoadedModel model;

  /** For tests that do not depend on the quality of answers. */
  private static LoadedModel shallow;

  @BeforeAll
  static void load() {
    model = LoadedModel.bundled();
    shallow = LoadedModel.load(ShallowModel.write(models.resolve("shallow.gguf")));
  }

  @AfterAll
  static void close() {
    model.close();
    shallow.close();
  }

  private static EvaluationSettings settings(
      Set<Task> tasks, int context, int samples, String... specs) {
    List<CacheSpec> kinds = Arrays.stream(specs).map(CacheSpec::parse).toList();
    return timed(kinds, tasks, context, samples).untimed();
  }

  private static EvaluationSettings timed(
      List<CacheSpec> kinds, Set<Task> tasks, int context, int samples) {
    return new EvaluationSettings(kinds, tasks, List.of(context), samples, 10, 1);
  }

  private static Evaluation run(EvaluationSettings settings) {
    return new CacheEvaluator(shallow, settings, Sources.bundled(true)).run((done, total) -> {});
  }

  private record Broken(CacheShape shape) implements CandidateCache {
    @Override
    public String name() {
      return "broken";
    }

    @Override
    public KvCache newCache(LoadedModel model, int tokens) {
      return BrokenPlaneCodec.newCache(shape);
    }
  }

  @Test
  void everyTaskDetectsABrokenPlane() {
    CacheShape shape = model.config().cacheShape();
    List<CandidateCache> contenders =
        List.of(CandidateCache.of(CacheSpec.DEFAULT, model), new Broken(shape));
    Evaluation evaluation =
        new CacheEvaluator(model, settings(OWN_TASKS, 520, 8), Sources.bundled(true), contenders)
            .run((done, total) -> {});
    Row broken = evaluation.rows().getLast();
    assertThat(broken.scores().keySet()).isEqualTo(OWN_TASKS);
    broken
        .comparisons()
        .forEach(
            (task, comparison) ->
                assertThat(comparison.fromReference().verdict())
                    .as("%s: %s", task, broken.scores().get(task).estimate())
                    .isEqualTo(Verdict.WORSE));
    bundledModelSolvesItsTasks(evaluation.reference());
  }

  private static void bundledModelSolvesItsTasks(Row reference) {
    assertThat(reference.scores().get(Task.CHAIN).estimate().value()).isGreaterThan(0.8);
    assertThat(reference.scores().get(Task.NEEDLE).estimate().value()).isGreaterThan(0.8);
    assertThat(reference.scores().get(Task.PPL).estimate().value()).isBetween(5.0, 60.0);
  }

  @Test
  void fp16HasNoDivergenceAndEightBitsHardlyAny() {
    EvaluationSettings settings = settings(EnumSet.of(Task.KLD), 400, 1, "kivi:8,window=0", "fp32");
    Evaluation evaluation = run(settings);
    assertThat(evaluation.rows())
        .extracting(Row::spec)
        .containsExactly("fp16", "kivi:8,window=0", "fp32");
    Score.Divergence fp16 = divergence(evaluation.rows().get(0));
    assertThat(fp16.estimate()).isEqualTo(new Estimate(0, 0, 0));
    assertThat(fp16.p99()).isZero();
    assertThat(fp16.sameTop()).isEqualTo(new Proportion(384, 384));
    assertThat(fp16.samples()).hasSize(3).containsOnly(0.0);
    Score.Divergence eight = divergence(evaluation.rows().get(1));
    assertThat(eight.estimate().value()).isBetween(1e-7, 1e-3);
    assertThat(eight.samples().getFirst()).as("nothing is packed yet").isZero();
    assertThat(eight.p99()).isGreaterThan(eight.estimate().value());
  }

  private static Score.Divergence divergence(Row row) {
    return (Score.Divergence) row.scores().get(Task.KLD);
  }

  @Test
  void footprintIsThatOfTheLongestSequence() {
    Row row = run(timed(List.of(), EnumSet.of(Task.PPL), 400, 1)).reference();
    assertThat(row.footprint().tokens()).isEqualTo(384);
    assertThat(row.footprint().kvBytes())
        .isEqualTo(CacheSpec.DEFAULT.bytesFor(shallow.config().cacheShape(), 384).total());
    assertThat(row.footprint().bitsPerValue()).isEqualTo(16, within(1e-9));
    assertThat(row.footprint().tokensPerSecond()).isPositive();
  }

  @Test
  void budgetInBitsScalesWithTheTask() {
    String bare = ",window=0,sinks=0,widths=same,shrink=layer";
    EvaluationSettings settings =
        settings(EnumSet.of(Task.KLD), 520, 1, "pmkvq:2,budget=10bits" + bare, "pmkvq:2" + bare);
    List<Row> rows = run(settings).rows();
    CacheShape shape = shallow.config().cacheShape();
    assertThat(rows.get(1).footprint().quantizedBitsPerValue(shape)).isEqualTo(4.5, within(1e-9));
    assertThat(rows.get(2).footprint().quantizedBitsPerValue(shape)).isEqualTo(2.5, within(1e-9));
    assertThat(divergence(rows.get(2)).samples())
        .as("steps are split where the budget cannot hold a whole block")
        .hasSize(4);
  }

  @Test
  void sameSeedGivesSameScores() {
    EvaluationSettings settings =
        settings(EnumSet.of(Task.PPL, Task.NEEDLE), 260, 1, "kivi:2,window=0");
    List<Row> first = run(settings).rows();
    List<Row> second = run(settings).rows();
    assertThat(first).extracting(Row::scores).isEqualTo(second.stream().map(Row::scores).toList());
  }

  @Test
  void cancelledEvaluationKeepsFinishedTasks() {
    EvaluationSettings settings = settings(EnumSet.of(Task.PPL, Task.NEEDLE), 300, 2, "kivi:2");
    int[] steps = {0};
    ProgressListener listener =
        new ProgressListener() {
          @Override
          public void progress(double done, double total) {
            assertThat(done).isLessThanOrEqualTo(total);
            steps[0]++;
          }

          @Override
          public boolean isCancelled() {
            return steps[0] > 5; // two blocks of two rows, and a step of the first document
          }
        };
    Evaluation evaluation =
        new CacheEvaluator(shallow, settings, Sources.bundled(true)).run(listener);
    assertThat(evaluation.complete()).isFalse();
    assertThat(evaluation.rows()).hasSize(2);
    assertThat(evaluation.reference().scores()).containsOnlyKeys(Task.PPL);
  }

  @Test
  void cancelledEvaluationResumesFromItsJournal(@TempDir Path folder) {
    Path file = folder.resolve("journal");
    EvaluationSettings settings = settings(EnumSet.of(Task.PPL, Task.NEEDLE), 300, 2, "kivi:2");
    Evaluation whole = run(settings);
    Evaluation begun = runUpTo(6, settings, EvaluationJournal.at(file, "a build"));
    assertThat(begun.complete()).isFalse();
    double[] work = {0, 0};
    Evaluation ended =
        new CacheEvaluator(shallow, settings, Sources.bundled(true))
            .run((done, total) -> work[0] = total, EvaluationJournal.at(file, "a build"));
    assertThat(ended.complete()).isTrue();
    assertThat(ended.rows()).extracting(Row::scores).isEqualTo(scores(whole));
    assertThat(ended.rows()).extracting(Row::comparisons).isEqualTo(comparisons(whole));
    assertThat(ended.reference().footprint()).isEqualTo(begun.reference().footprint());
    new CacheEvaluator(shallow, settings, Sources.bundled(true))
        .run((done, total) -> work[1] = total, EvaluationJournal.at(file, "another build"));
    assertThat(work[0]).as("work that was left").isPositive().isLessThan(work[1]);
  }

  private static List<?> scores(Evaluation evaluation) {
    return evaluation.rows().stream().map(Row::scores).toList();
  }

  private static List<?> comparisons(Evaluation evaluation) {
    return evaluation.rows().stream().map(Row::comparisons).toList();
  }

  private static Evaluation runUpTo(
      int most, EvaluationSettings settings, EvaluationJournal journal) {
    int[] steps = {0};
    ProgressListener listener =
        new ProgressListener() {
          @Override
          public void progress(double done, double total) {
            steps[0]++;
          }

          @Override
          public boolean isCancelled() {
            return steps[0] >= most;
          }
        };
    return new CacheEvaluator(shallow, settings, Sources.bundled(true)).run(listener, journal);
  }

  @Test
  void otherFilesAreNotOverwritten(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("journal");
    Files.writeString(file, "notes of mine");
    assertThatThrownBy(() -> EvaluationJournal.at(file, "a build"))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("is no journal of an evaluation");
    assertThat(file).hasContent("notes of mine");
  }

  @Test
  void exactPromptIsUnscoredAndQuantizedAtItsEnd() {
    EvaluationSettings chunked = settings(EnumSet.of(Task.KLD), 900, 1, "kivi:2,window=0");
    Score.Divergence exact =
        divergence(run(chunked.withReading(Reading.exact(900))).rows().getLast());
    assertThat(exact.samples()).as("384 of 896 tokens are the prompt").hasSize(4);
    assertThat(exact.samples().getFirst()).as("it meets a packed past").isPositive();
    Score.Divergence later =
        divergence(run(chunked.withReading(new Reading(Prefill.CHUNKED, 384))).rows().getLast());
    assertThat(later.samples()).hasSize(4).isNotEqualTo(exact.samples());
    EvaluationSettings bySpec =
        settings(EnumSet.of(Task.KLD), 900, 1, "kivi:2,window=0,prefill=exact")
            .withReading(new Reading(Prefill.CHUNKED, 384));
    assertThat(divergence(run(bySpec).rows().getLast()).samples()).isEqualTo(exact.samples());
  }

  @Test
  void generatedTextDriftsFromFp16() {
    Evaluation evaluation = run(settings(EnumSet.of(Task.DRIFT), 512, 2, "kivi:2,window=0"));
    Score.Drift half = (Score.Drift) evaluation.reference().scores().get(Task.DRIFT);
    assertThat(half.samples()).containsExactly(0.0, 0.0);
    assertThat(half.togetherSamples()).as("it never parts from itself").containsOnly(320.0);
    Score.Drift two = (Score.Drift) evaluation.rows().getLast().scores().get(Task.DRIFT);
    assertThat(two.estimate().value()).isPositive();
    assertThat(two.together().value()).isLessThan(320);
    assertThat(two.byPosition()).hasSize(5).allMatch(apart -> apart > 0);
  }

  @Test
  void questionsFromAFileAreAnswered() {
    Sources sources =
        Sources.bundled(true).withProblems(List.of(new WordProblem("Two?", BigDecimal.TWO)));
    EvaluationSettings settings = settings(EnumSet.of(Task.JSONL), 300, 5);
    Evaluation evaluation = new CacheEvaluator(shallow, settings, sources).run((done, total) -> {});
    assertThat(evaluation.reference().scores().get(Task.JSONL).samples()).hasSize(1);
  }

  @Test
  void impossibleSettingsAreRejectedBeforeAnyWork() {
    Sources sources = Sources.bundled(true);
    assertRejected(
        settings(OWN_TASKS, 16_385, 1), sources, "--context is 16385; expected 256 to 16384");
    assertRejected(settings(OWN_TASKS, 255, 1), sources, "--context is 255");
    assertRejected(
        settings(EnumSet.of(Task.PPL), 300, 1),
        sources.withText("short.txt", "Too short."),
        "short.txt: has");
    assertRejected(
        settings(EnumSet.of(Task.KLD), 1000, 1).withReading(new Reading(Prefill.EXACT, 900)),
        sources,
        "--prompt is 900; expected at most 768");
    assertRejected(
        new EvaluationSettings(List.of(), EnumSet.of(Task.CHAIN), List.of(300), 1, 2000, 1),
        sources,
        "a program of 2000 steps takes");
    assertRejected(
        settings(EnumSet.of(Task.PPL), 4000, 1, "pmkvq:2,budget=2MiB,widths=same"),
        sources,
        "the cache 'pmkvq:2,budget=2MiB,widths=same' holds");
  }

  private static void assertRejected(EvaluationSettings settings, Sources sources, String part) {
    assertThatThrownBy(() -> new CacheEvaluator(model, settings, sources))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining(part);
  }
}
