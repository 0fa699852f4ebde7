package dev.kvasir.lab.eval;

import dev.kvasir.cache.KvCache;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.work.LocalRunner;
import dev.kvasir.lab.work.Runner;
import dev.kvasir.lab.work.TaskGroup;
import dev.kvasir.lab.work.WorkerContext;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.stored.ProfileHash;
import java.util.List;

/**
 * Evaluates caches on a set of tasks. Results that the journal already has are not computed again.
 */
public final class CacheEvaluator {
  private final LoadedModel model;
  private final EvaluationSettings settings;
  private final String textName;
  private final String textHash;
  private final Workload workload;
  private final List<CandidateCache> candidates;

  /** Prepares the tasks and validates all settings. */
  public CacheEvaluator(LoadedModel model, EvaluationSettings settings, Sources sources) {
    this(
        model,
        settings,
        sources,
        settings.specs().stream()
            .map(spec -> CandidateCache.of(spec, model, settings.budgetContext()))
            .toList());
  }

  /** Evaluates caches that no spec describes; the first one is the reference. */
  CacheEvaluator(
      LoadedModel model,
      EvaluationSettings settings,
      Sources sources,
      List<CandidateCache> candidates) {
    this.model = model;
    this.settings = settings;
    this.textName = sources.textName();
    this.textHash = sources.hash();
    this.workload = Workload.of(model, settings, sources);
    this.candidates = candidates;
    candidates.forEach(
        one -> workload.sequenceLengths().forEach(tokens -> requireCapacity(one, tokens)));
  }

  /**
   * Rejects caches that do not fit the model and budgets that would be exhausted during the
   * evaluation.
   */
  private void requireCapacity(CandidateCache candidate, int tokens) {
    try (KvCache cache = candidate.newCache(model, tokens)) {
      if (cache.capacity() < tokens) {
        throw new InvalidInputException(
            "the cache '%s' holds %d tokens; a sequence to evaluate has %d"
                .formatted(candidate.name(), cache.capacity(), tokens));
      }
    }
  }

  public Evaluation run(ProgressListener listener) {
    return run(listener, EvaluationJournal.none());
  }

  public Evaluation run(ProgressListener listener, EvaluationJournal journal) {
    return run(new LocalRunner(WorkerContext.of(model)), listener, journal);
  }

  /**
   * @param runner a runner with the same model
   * @param journal stores finished tasks and provides those of an earlier run
   */
  public Evaluation run(Runner runner, ProgressListener listener, EvaluationJournal journal) {
    journal.begin(conditions());
    List<RowInProgress> rows =
        candidates.stream().map(one -> new RowInProgress(one, journal)).toList();
    List<TaskGroup<?>> missing =
        EvaluationPlan.of(
            workload,
            rows,
            new AnswerPlan(
                settings.sampling(), settings.reading().prefill(), runner.parallelism()));
    boolean complete = TaskGroup.run(missing, runner, listener);
    return new Evaluation(
        model.description(),
        settings,
        textName,
        machine(),
        complete,
        ScoreComparisons.of(finished(rows)));
  }

  /** Returns whether the journal holds results of an earlier run with the same conditions. */
  public boolean continues(EvaluationJournal journal) {
    return journal.holds(conditions());
  }

  /** Returns the seconds that a run without a journal takes at a speed. */
  public double seconds(double tokensPerSecond) {
    List<RowInProgress> rows =
        candidates.stream().map(one -> new RowInProgress(one, EvaluationJournal.none())).toList();
    AnswerPlan answers = new AnswerPlan(settings.sampling(), settings.reading().prefill(), 1);
    return TaskGroup.cost(EvaluationPlan.of(workload, rows, answers)) / tokensPerSecond;
  }

  /** Measures how many tokens per second a run reads. It takes as long as two blocks. */
  public static double measureTokensPerSecond(LoadedModel model) {
    return EvaluationSpeed.tokensPerSecond(model);
  }

  /** Returns everything the results depend on, except rows and tasks. */
  private String conditions() {
    return String.join(
        "; ",
        model.fingerprint(),
        "profile " + model.profile().map(own -> ProfileHash.of(own, own.parts())).orElse("none"),
        "text " + textHash,
        "contexts " + settings.contexts(),
        "samples " + settings.samples(),
        "steps " + settings.steps(),
        "seed " + settings.seed(),
        settings.reading().toString(),
        settings.sampling().toString(),
        "budget context " + settings.budgetContext(),
        machine());
  }

  private static List<Row> finished(List<RowInProgress> rows) {
    return rows.stream().filter(RowInProgress::hasScores).map(RowInProgress::row).toList();
  }

  private String machine() {
    return "%d processors, %s, %s kernels, Java %s"
        .formatted(
            Runtime.getRuntime().availableProcessors(),
            System.getProperty("os.arch"),
            model.kernels(),
            Runtime.version());
  }
}
