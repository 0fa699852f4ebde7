package dev.kvasir.lab.eval;

import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.cache.KvCache;
import dev.kvasir.lab.work.TaskGroup;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * Splits requests into tasks.
 *
 * @param parallelism number of tasks that run in parallel
 */
record AnswerPlan(AnswerSampling sampling, Prefill prefill, int parallelism) {
  /** Maximum number of rows that share prompts; fewer lose less when a run is cancelled. */
  private static final int MAX_ROWS = 4;

  /** Minimum number of requests in a task; smaller batches waste the reads of the weights. */
  private static final int MIN_BATCH = 4;

  /** Returns whether prompts stay in full precision in every cache, because they fill no page. */
  static boolean areShort(List<? extends GenerationRequest> requests) {
    return requests.stream().allMatch(one -> one.prompt().length <= KvCache.TOKENS_PER_PAGE);
  }

  /**
   * Returns rows in groups that answer together. Unless they share prompts, each row is a group, so
   * that a cancelled run leaves complete rows.
   */
  <R> List<List<R>> groups(List<R> rows, boolean share) {
    int limit = share ? MAX_ROWS : 1;
    List<List<R>> groups = new ArrayList<>();
    for (int from = 0; from < rows.size(); from += limit) {
      groups.add(List.copyOf(rows.subList(from, Math.min(from + limit, rows.size()))));
    }
    return groups;
  }

  /**
   * Returns the tasks of a group of rows.
   *
   * @param sample name of a request
   * @param results receives the answers by row, request and answer
   */
  TaskGroup<AnswerTask.Texts> group(
      String task,
      String sample,
      List<CandidateCache> rows,
      List<? extends GenerationRequest> requests,
      Consumer<List<List<List<String>>>> results) {
    int limit = Math.max(MIN_BATCH, Math.ceilDiv(requests.size(), parallelism));
    List<AnswerTask> tasks = new ArrayList<>();
    for (int from = 0; from < requests.size(); from += limit) {
      int to = Math.min(from + limit, requests.size());
      String part = TaskNames.part(sample, from, to, requests.size());
      tasks.add(
          new AnswerTask(
              task, rows, List.copyOf(requests.subList(from, to)), from, sampling, prefill, part));
    }
    return new TaskGroup<>(
        tasks,
        parts ->
            results.accept(
                IntStream.range(0, rows.size())
                    .mapToObj(row -> AnswerTask.Texts.of(parts, row))
                    .toList()));
  }
}
