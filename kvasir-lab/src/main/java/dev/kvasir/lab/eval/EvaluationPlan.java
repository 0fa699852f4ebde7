package dev.kvasir.lab.eval;

import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.lab.work.TaskGroup;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Predicate;

/**
 * Splits the missing results of rows into tasks and puts the task results into the rows. Texts come
 * first, through a few rows at once; the rest goes row by row, so that a cancelled run leaves
 * complete rows, or by a few rows that share prompts. Results do not depend on the split, because a
 * sequence is bit-identical in any batch.
 */
final class EvaluationPlan {
  /**
   * Maximum number of rows that read a text together with the reference. More would read the
   * reference less often; fewer lose less when a run is cancelled.
   */
  private static final int MAX_ROWS_PER_TEXT = 5;

  /**
   * Maximum number of rows of a generated text in addition to the reference; several texts are then
   * decoded in one batch.
   */
  private static final int MAX_ROWS_PER_DRIFT = 7;

  private final Workload workload;
  private final List<RowInProgress> rows;
  private final AnswerPlan answers;
  private final Prefill prefill;
  private final List<TaskGroup<?>> taskGroups = new ArrayList<>();

  private EvaluationPlan(Workload workload, List<RowInProgress> rows, AnswerPlan answers) {
    this.workload = workload;
    this.rows = rows;
    this.answers = answers;
    this.prefill = answers.prefill();
  }

  /**
   * @param rows the reference first
   */
  static List<TaskGroup<?>> of(Workload workload, List<RowInProgress> rows, AnswerPlan answers) {
    EvaluationPlan plan = new EvaluationPlan(workload, rows, answers);
    workload.texts().forEach(plan::addText);
    if (!workload.openings().isEmpty()) {
      groups(rows, row -> row.has(Task.DRIFT), MAX_ROWS_PER_DRIFT).forEach(plan::addDrift);
    }
    answers.groups(rows, plan.sharesPrompts()).forEach(plan::addAnswers);
    return plan.taskGroups;
  }

  private void addText(StreamText text) {
    int limit = Math.min(MAX_ROWS_PER_TEXT, Math.ceilDiv(rows.size() - 1, answers.parallelism()));
    for (List<RowInProgress> group : groups(rows, text::isDoneBy, Math.max(1, limit))) {
      StreamTask newTask = new StreamTask(candidates(group), text, prefill);
      taskGroups.add(TaskGroup.of(newTask, readings -> take(readings, group)));
    }
  }

  private static void take(StreamTask.StreamScores readings, List<RowInProgress> group) {
    for (int i = 0; i < group.size(); i++) {
      if (!readings.footprints().isEmpty()) {
        group.get(i).putFootprint(comparable(readings.footprints(), i, group.getFirst()));
      }
      readings.scores().get(i).forEach(group.get(i)::put);
    }
  }

  /**
   * Returns a footprint whose speed can be compared with those of other groups: it is relative to
   * the reference in the same group, because the load of the machine changes meanwhile.
   */
  private static Footprint comparable(List<Footprint> found, int row, RowInProgress reference) {
    double before = reference.tokensPerSecond();
    double here = found.getFirst().tokensPerSecond();
    Footprint footprint = found.get(row);
    return Double.isNaN(before) || Double.isNaN(here)
        ? footprint
        : footprint.withSpeed(footprint.tokensPerSecond() * before / here);
  }

  private void addDrift(List<RowInProgress> group) {
    List<CandidateCache> candidates = candidates(group);
    int limit = Math.max(1, BatchRunner.MAX_BATCH / group.size());
    int fair = Math.ceilDiv(workload.openings().size(), answers.parallelism());
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

  private boolean sharesPrompts() {
    boolean hasDocuments = !workload.needles().isEmpty() || !workload.records().isEmpty();
    return prefill == Prefill.EXACT
        || !hasDocuments
            && AnswerPlan.areShort(workload.programs())
            && AnswerPlan.areShort(workload.exercises());
  }

  private void addAnswers(List<RowInProgress> group) {
    addPassages(group, Task.NEEDLE, workload.needles());
    addPassages(group, Task.RECORDS, workload.records());
    addRequests(group, Task.CHAIN, "program", workload.programs(), AnswerScores::chain);
    addRequests(group, Task.JSONL, "question", workload.exercises(), AnswerScores::exercises);
  }

  private void addPassages(List<RowInProgress> group, Task task, List<Passage> passages) {
    List<RowInProgress> missing = missing(group, task);
    if (passages.isEmpty() || missing.isEmpty()) {
      return;
    }
    List<RetrievalTask> tasks = new ArrayList<>();
    int first = 0;
    for (Passage passage : passages) {
      List<Passage> asLong =
          passages.stream().filter(one -> one.context() == passage.context()).toList();
      int place = asLong.indexOf(passage);
      String part = TaskNames.part("document", place, place + 1, asLong.size());
      tasks.add(
          new RetrievalTask(
              task, candidates(missing), passage, first, answers.sampling(), prefill, part));
      first += passage.questions().size();
    }
    taskGroups.add(
        new TaskGroup<>(
            tasks,
            parts -> {
              for (int i = 0; i < missing.size(); i++) {
                List<List<String>> texts = AnswerTask.Texts.of(parts, i);
                missing.get(i).put(task, AnswerScores.retrieval(passages, texts));
              }
            }));
  }

  private <Q extends GenerationRequest> void addRequests(
      List<RowInProgress> group,
      Task task,
      String sample,
      List<Q> requests,
      BiFunction<List<Q>, List<List<String>>, Score> scorer) {
    List<RowInProgress> missing = missing(group, task);
    if (requests.isEmpty() || missing.isEmpty()) {
      return;
    }
    taskGroups.add(
        answers.group(
            task.label(),
            sample,
            candidates(missing),
            requests,
            texts -> {
              for (int i = 0; i < missing.size(); i++) {
                missing.get(i).put(task, scorer.apply(requests, texts.get(i)));
              }
            }));
  }

  private static List<RowInProgress> missing(List<RowInProgress> group, Task task) {
    return group.stream().filter(row -> !row.has(task)).toList();
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
}
