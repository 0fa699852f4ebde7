package dev.kvasir.lab.eval;

import dev.kvasir.SessionOptions.Prefill;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.work.LocalRunner;
import dev.kvasir.lab.work.Runner;
import dev.kvasir.lab.work.TaskGroup;
import dev.kvasir.lab.work.WorkerContext;
import dev.kvasir.runtime.LoadedModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;

/**
 * Answers prompts with several caches, many sequences in each step. An answer has the same bits as
 * one that is generated alone. All answers to a prompt share its prefill, and so do caches that
 * compute it with the same bits, which requires {@link Prefill#EXACT} or a prompt of less than a
 * page.
 *
 * @param sampling how answers are generated
 * @param prefill when prompts are quantized
 * @param budgetContext tokens that scale budgets in bits, if more than a sequence can have; 0 for
 *     the longest sequence
 */
public record BatchAnswers(AnswerSampling sampling, Prefill prefill, int budgetContext) {
  /** Returns greedy answers after prompts that are quantized while they are read. */
  public static BatchAnswers greedy() {
    return new BatchAnswers(AnswerSampling.GREEDY, Prefill.CHUNKED, 0);
  }

  /**
   * Answers all requests with each cache, in this process.
   *
   * @param task name of the task, for progress messages
   * @return the answers by cache, request and answer; empty if the listener cancelled the run
   */
  public Optional<List<List<List<String>>>> answer(
      LoadedModel model,
      String task,
      List<CacheSpec> caches,
      List<? extends GenerationRequest> requests,
      ProgressListener listener) {
    return answer(
        model, new LocalRunner(WorkerContext.of(model)), task, caches, requests, listener);
  }

  /** Answers all requests with each cache, on the workers of a runner with the same model. */
  public Optional<List<List<List<String>>>> answer(
      LoadedModel model,
      Runner runner,
      String task,
      List<CacheSpec> caches,
      List<? extends GenerationRequest> requests,
      ProgressListener listener) {
    List<CandidateCache> rows =
        caches.stream().map(spec -> CandidateCache.of(spec, model, budgetContext)).toList();
    AnswerPlan plan = new AnswerPlan(sampling, prefill, runner.parallelism());
    List<TaskGroup<?>> groups = new ArrayList<>();
    Map<CandidateCache, List<List<String>>> answers = new ConcurrentHashMap<>();
    boolean share = prefill == Prefill.EXACT || AnswerPlan.areShort(requests);
    for (List<CandidateCache> some : plan.groups(rows, share)) {
      groups.add(
          plan.group(
              task,
              "prompt",
              some,
              requests,
              texts ->
                  IntStream.range(0, some.size())
                      .forEach(i -> answers.put(some.get(i), texts.get(i)))));
    }
    return TaskGroup.run(groups, runner, listener)
        ? Optional.of(rows.stream().map(answers::get).toList())
        : Optional.empty();
  }
}
