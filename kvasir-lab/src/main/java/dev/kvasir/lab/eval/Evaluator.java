package dev.kvasir.lab.eval;

import dev.kvasir.Model;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.lab.WorkListener;
import java.util.List;
import java.util.function.IntFunction;

/**
 * Runs the tasks with every kind of cache. The text comes first, through all rows at once; then row
 * by row, so that an interruption leaves whole rows.
 */
public final class Evaluator {
  private final Model model;
  private final Settings settings;
  private final String textName;
  private final Workload work;
  private final List<Contender> contenders;

  /** Makes the tasks; whatever is wrong with them is said here. */
  public Evaluator(Model model, Settings settings, Sources sources) {
    this(model, settings, sources, longest -> contenders(model, settings, longest));
  }

  /**
   * For caches that no spec describes; the first one is the reference.
   *
   * @param contenders by the tokens of the longest sequence
   */
  Evaluator(
      Model model, Settings settings, Sources sources, IntFunction<List<Contender>> contenders) {
    this.model = model;
    this.settings = settings;
    this.textName = sources.textName();
    this.work = Workload.of(model, settings, sources);
    this.contenders = contenders.apply(work.longestSequence());
  }

  private static List<Contender> contenders(Model model, Settings settings, int longest) {
    List<Contender> contenders =
        settings.specs().stream().map(spec -> Contender.of(spec, model, longest)).toList();
    contenders.forEach(contender -> requireRoom(contender, longest));
    return contenders;
  }

  /** Refuses now what does not fit the model, and a budget that would be full halfway. */
  private static void requireRoom(Contender contender, int longest) {
    try (KvCache cache = contender.open()) {
      if (cache.capacity() < longest) {
        throw new InvalidInputException(
            "the cache '%s' holds %d tokens; the longest sequence to evaluate has %d"
                .formatted(contender.name(), cache.capacity(), longest));
      }
    }
  }

  public Evaluation run(WorkListener listener) {
    Pace pace = new Pace(listener, work.work() * contenders.size());
    CacheShape shape = model.config().cacheShape();
    List<RowInProgress> rows =
        contenders.stream().map(one -> new RowInProgress(one, shape)).toList();
    boolean complete = true;
    try {
      new StreamRun(model, work.stream(), pace).run(rows, settings.tasks());
      rows.forEach(row -> runTasks(row, new Steps(model, pace)));
    } catch (Pace.Stopped e) {
      complete = false;
    }
    return new Evaluation(
        model.config().name(),
        settings,
        textName,
        machine(),
        complete,
        Comparisons.of(finished(rows)));
  }

  private void runTasks(RowInProgress row, Steps steps) {
    if (!work.needles().isEmpty()) {
      row.put(Task.NEEDLE, new RetrievalRun(steps, work.needles()).run(row));
    }
    if (!work.records().isEmpty()) {
      row.put(Task.RECORDS, new RetrievalRun(steps, work.records()).run(row));
    }
    if (!work.programs().isEmpty()) {
      row.put(Task.CHAIN, new ChainRun(steps, work.programs()).run(row));
    }
    if (!work.exercises().isEmpty()) {
      row.put(Task.JSONL, new ExerciseRun(steps, work.exercises()).run(row));
    }
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
