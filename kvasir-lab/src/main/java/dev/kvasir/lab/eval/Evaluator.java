package dev.kvasir.lab.eval;

import dev.kvasir.Model;
import dev.kvasir.cache.KvCache;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.work.Bundle;
import dev.kvasir.lab.work.LocalRunner;
import dev.kvasir.lab.work.Runner;
import dev.kvasir.lab.work.Worksite;
import dev.kvasir.stored.ProfileHash;
import java.util.List;

/** Runs the tasks with every kind of cache. What a journal knows already is not run again. */
public final class Evaluator {
  private final Model model;
  private final Settings settings;
  private final String textName;
  private final String textHash;
  private final Workload work;
  private final List<Contender> contenders;

  /** Makes the tasks; whatever is wrong with them is said here. */
  public Evaluator(Model model, Settings settings, Sources sources) {
    this(
        model,
        settings,
        sources,
        settings.specs().stream().map(spec -> Contender.of(spec, model)).toList());
  }

  /** For caches that no spec describes; the first one is the reference. */
  Evaluator(Model model, Settings settings, Sources sources, List<Contender> contenders) {
    this.model = model;
    this.settings = settings;
    this.textName = sources.textName();
    this.textHash = sources.hash();
    this.work = Workload.of(model, settings, sources);
    this.contenders = contenders;
    contenders.forEach(one -> work.sequences().forEach(tokens -> requireRoom(one, tokens)));
  }

  /** Refuses now what does not fit the model, and a budget that would be full halfway. */
  private void requireRoom(Contender contender, int tokens) {
    try (KvCache cache = contender.open(model, tokens)) {
      if (cache.capacity() < tokens) {
        throw new InvalidInputException(
            "the cache '%s' holds %d tokens; a sequence to evaluate has %d"
                .formatted(contender.name(), cache.capacity(), tokens));
      }
    }
  }

  public Evaluation run(WorkListener listener) {
    return run(listener, EvaluationJournal.none());
  }

  public Evaluation run(WorkListener listener, EvaluationJournal journal) {
    return run(new LocalRunner(Worksite.of(model)), listener, journal);
  }

  /**
   * @param runner of the same model
   * @param journal where finished tasks are kept, and those of an earlier run are found
   */
  public Evaluation run(Runner runner, WorkListener listener, EvaluationJournal journal) {
    journal.begin(conditions());
    List<RowInProgress> rows =
        contenders.stream().map(one -> new RowInProgress(one, journal)).toList();
    List<Bundle<?>> missing =
        EvaluationPlan.of(work, rows, settings.reading().prefill(), runner.sideBySide());
    boolean complete = Bundle.run(missing, runner, listener);
    return new Evaluation(
        model.config().name(),
        settings,
        textName,
        machine(),
        complete,
        Comparisons.of(finished(rows)));
  }

  /** All that figures depend on but for rows and tasks. */
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
        machine());
  }

  private static List<Row> finished(List<RowInProgress> rows) {
    return rows.stream().filter(RowInProgress::hasScores).map(RowInProgress::row).toList();
  }

  private static String machine() {
    return "%d processors, %s, %s kernels, Java %s"
        .formatted(
            Runtime.getRuntime().availableProcessors(),
            System.getProperty("os.arch"),
            KernelChoice.ofThisProcess().kernels().name(),
            Runtime.version());
  }
}
