package dev.kvasir.lab.eval;

import dev.kvasir.cache.CacheSpec;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The settings of an evaluation.
 *
 * @param specs cache specs, fp16 first
 * @param contexts lengths of needle documents and tables, in tokens; the text is read to the
 *     longest
 * @param samples number of questions of each length, of programs, or of questions from a file
 * @param steps steps of a program
 * @param reading how texts and documents are read into a cache
 * @param timed whether speeds are measured, which other load on the machine would distort
 * @param sampling how answers are generated
 * @param budgetContext tokens that scale budgets, where a sequence has fewer; 0 for none
 */
public record EvaluationSettings(
    List<CacheSpec> specs,
    Set<Task> tasks,
    List<Integer> contexts,
    int samples,
    int steps,
    long seed,
    Reading reading,
    boolean timed,
    AnswerSampling sampling,
    int budgetContext) {
  public EvaluationSettings(
      List<CacheSpec> specs,
      Set<Task> tasks,
      List<Integer> contexts,
      int samples,
      int steps,
      long seed) {
    this(
        specs,
        tasks,
        contexts,
        samples,
        steps,
        seed,
        Reading.CHUNKED,
        true,
        AnswerSampling.GREEDY,
        0);
  }

  public EvaluationSettings {
    check(!contexts.isEmpty(), "contexts are none");
    check(!tasks.isEmpty(), "tasks are none");
    check(samples > 0, "samples are " + samples);
    check(steps > 0, "steps are " + steps);
    LinkedHashSet<CacheSpec> withReference = new LinkedHashSet<>();
    withReference.add(CacheSpec.DEFAULT);
    withReference.addAll(specs);
    specs = List.copyOf(withReference);
    contexts = contexts.stream().sorted().distinct().toList();
    tasks = EnumSet.copyOf(tasks);
  }

  private static void check(boolean good, String what) {
    if (!good) {
      throw new IllegalArgumentException(what + "; expected at least 1");
    }
  }

  public EvaluationSettings withContexts(List<Integer> value) {
    return new EvaluationSettings(
        specs, tasks, value, samples, steps, seed, reading, timed, sampling, budgetContext);
  }

  public EvaluationSettings withReading(Reading value) {
    return new EvaluationSettings(
        specs, tasks, contexts, samples, steps, seed, value, timed, sampling, budgetContext);
  }

  public EvaluationSettings withSampling(AnswerSampling value) {
    return new EvaluationSettings(
        specs, tasks, contexts, samples, steps, seed, reading, timed, value, budgetContext);
  }

  /** Gives budgets the size of a longer sequence. */
  public EvaluationSettings withBudgetContext(int tokens) {
    return new EvaluationSettings(
        specs, tasks, contexts, samples, steps, seed, reading, timed, sampling, tokens);
  }

  public EvaluationSettings untimed() {
    return new EvaluationSettings(
        specs, tasks, contexts, samples, steps, seed, reading, false, sampling, budgetContext);
  }

  public int longestContext() {
    return contexts.getLast();
  }
}
