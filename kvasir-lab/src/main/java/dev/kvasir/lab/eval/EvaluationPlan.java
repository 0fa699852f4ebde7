package dev.kvasir.lab.eval;

import dev.kvasir.Model;
import dev.kvasir.Prefill;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.eval.Score.GridCell;
import dev.kvasir.lab.eval.Workload.Exercise;
import dev.kvasir.lab.task.Question;
import dev.kvasir.lab.work.LabTask;
import dev.kvasir.lab.work.TaskGroup;
import dev.kvasir.lab.work.WorkerContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.Predicate;

/**
 * Splits the missing results of rows into tasks and puts the task results into the rows. Texts come
 * first, through a few rows at once; the rest goes row by row, so that a cancelled run leaves
 * complete rows. Results do not depend on the split, because a sequence is bit-identical in any
 * batch.
 */
final class EvaluationPlan {
  /**
   * Maximum number of rows that read a text together with the reference. More would read the
   * reference less often; fewer lose less when a run is cancelled.
   */
  private static final int MAX_ROWS_PER_TEXT = 4;

  /**
   * Maximum number of rows of a generated text in addition to the reference; several texts are then
   * decoded in one batch.
   */
  private static final int MAX_ROWS_PER_DRIFT = 7;

  /** Minimum number of sequences in a task; smaller batches waste the reads of the weights. */
  private static final int MIN_BATCH = 4;

  private final Workload workload;
  private final List<RowInProgress> rows;
  private final Prefill prefill;
  private final int parallelism;
  private final List<TaskGroup<?>> taskGroups = new ArrayList<>();

  private EvaluationPlan(
      Workload workload, List<RowInProgress> rows, Prefill prefill, int parallelism) {
    this.workload = workload;
    this.rows = rows;
    this.prefill = prefill;
    this.parallelism = parallelism;
  }

  /**
   * @param rows the reference first
   * @param parallelism number of tasks that run in parallel
   */
  static List<TaskGroup<?>> of(
      Workload workload, List<RowInProgress> rows, Prefill prefill, int parallelism) {
    EvaluationPlan plan = new EvaluationPlan(workload, rows, prefill, parallelism);
    workload.texts().forEach(plan::addText);
    if (!workload.openings().isEmpty()) {
      groups(rows, row -> row.has(Task.DRIFT), MAX_ROWS_PER_DRIFT).forEach(plan::addDrift);
    }
    rows.forEach(plan::addRowTasks);
    return plan.taskGroups;
  }

  private void addText(StreamText text) {
    int limit = Math.min(MAX_ROWS_PER_TEXT, Math.ceilDiv(rows.size() - 1, parallelism));
    for (List<RowInProgress> group : groups(rows, text::isDoneBy, Math.max(1, limit))) {
      StreamTask newTask = new StreamTask(candidates(group), text, prefill);
      taskGroups.add(TaskGroup.of(newTask, readings -> take(readings, group)));
    }
  }

  private static void take(StreamTask.StreamScores readings, List<RowInProgress> group) {
    for (int i = 0; i < group.size(); i++) {
      if (!readings.footprints().isEmpty()) {
        group.get(i).putFootprint(readings.footprints().get(i));
      }
      readings.scores().get(i).forEach(group.get(i)::put);
    }
  }

  private void addDrift(List<RowInProgress> group) {
    List<CandidateCache> candidates = candidates(group);
    int limit = Math.max(1, BatchRunner.MAX_BATCH / group.size());
    int fair = Math.ceilDiv(workload.openings().size(), parallelism);
    taskGroups.add(
        new TaskGroup<>(
            parts(
                "opening",
                workload.openings(),
                Math.min(limit, fair),
                (openings, part) -> new DriftTask(candidates, openings, part, prefill)),
            departures -> {
              for (int i = 0; i < group.size(); i++) {
                group.get(i).put(Task.DRIFT, DriftTally.score(departures, i));
              }
            }));
  }

  private void addRowTasks(RowInProgress row) {
    addPassages(row, Task.NEEDLE, workload.needles());
    addPassages(row, Task.RECORDS, workload.records());
    addPrograms(row);
    addExercises(row);
  }

  private void addPassages(RowInProgress row, Task task, List<Passage> passages) {
    if (passages.isEmpty() || row.has(task)) {
      return;
    }
    List<RetrievalTask> tasks = new ArrayList<>();
    for (int i = 0; i < passages.size(); i++) {
      Passage passage = passages.get(i);
      List<Passage> asLong =
          passages.stream().filter(one -> one.context() == passage.context()).toList();
      int place = asLong.indexOf(passage);
      String part = TaskNames.part("document", place, place + 1, asLong.size());
      tasks.add(new RetrievalTask(task, row.candidate(), passage, part, prefill));
    }
    taskGroups.add(
        new TaskGroup<>(tasks, right -> row.put(task, RetrievalTally.score(passages, right))));
  }

  private void addPrograms(RowInProgress row) {
    if (workload.programs().isEmpty() || row.has(Task.CHAIN)) {
      return;
    }
    int steps = workload.programs().getFirst().chain().steps();
    taskGroups.add(
        new TaskGroup<>(
            parts(
                "program",
                workload.programs(),
                batchSize(workload.programs().size()),
                (some, part) -> new ChainTask(row.candidate(), some, part, prefill)),
            attempts -> row.put(Task.CHAIN, ChainTask.score(attempts, steps))));
  }

  private void addExercises(RowInProgress row) {
    if (workload.exercises().isEmpty() || row.has(Task.JSONL)) {
      return;
    }
    taskGroups.add(
        new TaskGroup<>(
            parts(
                "question",
                workload.exercises(),
                batchSize(workload.exercises().size()),
                (some, part) -> new ExerciseTask(row.candidate(), some, part, prefill)),
            right -> row.put(Task.JSONL, ExerciseTask.score(right))));
  }

  private int batchSize(int sequences) {
    int fair = Math.max(MIN_BATCH, Math.ceilDiv(sequences, parallelism));
    return Math.min(BatchRunner.MAX_BATCH, fair);
  }

  private static <S, P> List<P> parts(
      String what, List<S> samples, int limit, BiFunction<List<S>, String, P> newTask) {
    List<P> tasks = new ArrayList<>();
    for (int from = 0; from < samples.size(); from += limit) {
      int to = Math.min(from + limit, samples.size());
      String part = TaskNames.part(what, from, to, samples.size());
      tasks.add(newTask.apply(List.copyOf(samples.subList(from, to)), part));
    }
    return tasks;
  }

  private static List<CandidateCache> candidates(List<RowInProgress> group) {
    return group.stream().map(RowInProgress::candidate).toList();
  }

  /** Returns the unfinished rows in groups, each led by the reference. */
  private static List<List<RowInProgress>> groups(
      List<RowInProgress> rows, Predicate<RowInProgress> done, int limit) {
    RowInProgress reference = rows.getFirst();
    List<RowInProgress> missing = rows.stream().skip(1).filter(done.negate()).toList();
    List<List<RowInProgress>> groups = new ArrayList<>();
    for (int from = 0; from < missing.size(); from += limit) {
      List<RowInProgress> group = new ArrayList<>(List.of(reference));
      group.addAll(missing.subList(from, Math.min(from + limit, missing.size())));
      groups.add(group);
    }
    return groups.isEmpty() && !done.test(reference) ? List.of(List.of(reference)) : groups;
  }

  /**
   * The user's own questions, answered in one batch. The result is 1 for a correct answer and 0 for
   * a wrong one.
   *
   * @param part which of the questions these are, for the task name
   */
  private record ExerciseTask(
      CandidateCache row, List<Exercise> exercises, String part, Prefill prefill)
      implements LabTask<double[]> {
    private static final String NEXT_QUESTION = "\nQuestion:";

    @Override
    public String name() {
      return "jsonl with %s%s".formatted(row.name(), part);
    }

    @Override
    public double cost() {
      return exercises.stream().mapToDouble(Exercise::cost).sum();
    }

    @Override
    public long peakBytes(Model model) {
      return exercises.stream()
          .mapToLong(one -> row.peakBytes(model, one.maxLength(), prefill))
          .sum();
    }

    @Override
    public double[] run(WorkerContext context, ProgressListener listener) {
      BatchRunner runner =
          new BatchRunner(context.model(), prefill, new ProgressCounter(listener, cost()));
      List<String> answers =
          runner.generateAnswers(row, exercises, (any, text) -> text.contains(NEXT_QUESTION));
      double[] right = new double[answers.size()];
      for (int i = 0; i < right.length; i++) {
        String answer = answers.get(i).split(NEXT_QUESTION, 2)[0];
        right[i] = exercises.get(i).problem().isSolvedBy(answer) ? 1 : 0;
      }
      return right;
    }

    /** Returns the score over all questions of a row. */
    static Score score(List<double[]> parts) {
      List<Double> samples = parts.stream().flatMapToDouble(Arrays::stream).boxed().toList();
      return new Score.Answers(Proportion.of(samples).estimate(), samples);
    }
  }

  /** Aggregates the answers of a row by context length and depth. */
  private static final class RetrievalTally {
    private final List<Double> samples = new ArrayList<>();
    // By context, then by depth: successes and tries.
    private final Map<Integer, int[][]> grid = new TreeMap<>();

    /**
     * @param right correctness by passage and question
     */
    static Score score(List<Passage> passages, List<double[]> right) {
      RetrievalTally tally = new RetrievalTally();
      for (int i = 0; i < passages.size(); i++) {
        for (int question = 0; question < right.get(i).length; question++) {
          tally.add(
              passages.get(i).context(),
              passages.get(i).questions().get(question),
              right.get(i)[question]);
        }
      }
      return new Score.Retrieval(
          Proportion.of(tally.samples).estimate(), List.copyOf(tally.samples), tally.cells());
    }

    private void add(int context, Question question, double right) {
      samples.add(right);
      int depth = Math.min(Score.DEPTHS - 1, (int) (question.depth() * Score.DEPTHS));
      int[] cell = grid.computeIfAbsent(context, length -> new int[Score.DEPTHS][2])[depth];
      cell[0] += (int) right;
      cell[1]++;
    }

    private List<GridCell> cells() {
      List<GridCell> cells = new ArrayList<>();
      grid.forEach(
          (context, depths) -> {
            for (int depth = 0; depth < Score.DEPTHS; depth++) {
              Proportion share = new Proportion(depths[depth][0], depths[depth][1]);
              cells.add(new GridCell(context, depth, share));
            }
          });
      return cells;
    }
  }
}
