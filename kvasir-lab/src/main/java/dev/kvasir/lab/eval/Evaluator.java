package dev.kvasir.lab.eval;

import dev.kvasir.Model;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.lab.WorkListener;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Runs the tasks with every kind of cache. Texts come first, through a few rows at once; then row
 * by row, so that an interruption leaves whole rows. What a journal knows already is not run again.
 */
public final class Evaluator {
  /**
   * Rows that a text flows through beside the reference. More of them would spare the reference's
   * reading; fewer lose less where a run is ended.
   */
  private static final int ROWS_OF_A_TEXT = 4;

  /** Rows of a generated text beside the reference; several texts are then written together. */
  private static final int ROWS_OF_A_DRIFT = 7;

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
  private static void requireRoom(Contender contender, int tokens) {
    try (KvCache cache = contender.open(tokens)) {
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

  /**
   * @param journal where finished tasks are kept, and those of an earlier run are found
   */
  public Evaluation run(WorkListener listener, EvaluationJournal journal) {
    journal.begin(conditions());
    CacheShape shape = model.config().cacheShape();
    List<RowInProgress> rows =
        contenders.stream().map(one -> new RowInProgress(one, shape, journal)).toList();
    boolean complete = true;
    try {
      new TaskRun(listener, rows).run();
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

  /** All that figures depend on but for rows and tasks. */
  private String conditions() {
    return String.join(
        "; ",
        model.fingerprint(),
        "text " + textHash,
        "contexts " + settings.contexts(),
        "samples " + settings.samples(),
        "steps " + settings.steps(),
        "seed " + settings.seed(),
        settings.reading().toString(),
        machine());
  }

  /** One way through all that is missing. */
  private final class TaskRun {
    private final WorkListener listener;
    private final List<RowInProgress> rows;
    private final Pace pace;
    private final Steps steps;

    TaskRun(WorkListener listener, List<RowInProgress> rows) {
      this.listener = listener;
      this.rows = rows;
      this.pace = new Pace(listener, missingWork());
      this.steps = new Steps(model, settings.reading().prefill(), pace);
    }

    private double missingWork() {
      double missing = 0;
      for (StreamText text : work.texts()) {
        missing += text.work() * passes(text::isDoneBy, ROWS_OF_A_TEXT);
      }
      if (!work.openings().isEmpty()) {
        missing += work.driftWork() * passes(row -> row.has(Task.DRIFT), ROWS_OF_A_DRIFT);
      }
      for (RowInProgress row : rows) {
        missing += ownWork(row);
      }
      return missing;
    }

    private double ownWork(RowInProgress row) {
      return work.ownTasks().stream()
          .filter(task -> !row.has(task))
          .mapToDouble(work::workOf)
          .sum();
    }

    /** Rows to be read, the reference once for each group of them. */
    private int passes(Predicate<RowInProgress> done, int most) {
      return groups(done, most).stream().mapToInt(List::size).sum();
    }

    /** The rows that are missing, each group behind the reference. */
    private List<List<RowInProgress>> groups(Predicate<RowInProgress> done, int most) {
      RowInProgress reference = rows.getFirst();
      List<RowInProgress> missing = rows.stream().skip(1).filter(done.negate()).toList();
      List<List<RowInProgress>> groups = new ArrayList<>();
      for (int from = 0; from < missing.size(); from += most) {
        List<RowInProgress> group = new ArrayList<>(List.of(reference));
        group.addAll(missing.subList(from, Math.min(from + most, missing.size())));
        groups.add(group);
      }
      return groups.isEmpty() && !done.test(reference) ? List.of(List.of(reference)) : groups;
    }

    void run() {
      for (StreamText text : work.texts()) {
        for (List<RowInProgress> group : groups(text::isDoneBy, ROWS_OF_A_TEXT)) {
          tell(group, text.weighs() ? "the text" : "the book");
          new StreamRun(model, steps, text, pace).run(group);
        }
      }
      if (!work.openings().isEmpty()) {
        for (List<RowInProgress> group : groups(row -> row.has(Task.DRIFT), ROWS_OF_A_DRIFT)) {
          tell(group, "drift");
          new DriftRun(model, steps, work.openings(), pace).run(group);
        }
      }
      rows.forEach(this::runOwn);
    }

    private void tell(List<RowInProgress> group, String what) {
      String names =
          group.stream().map(row -> row.contender().name()).collect(Collectors.joining("; "));
      listener.doing(what + " with " + names);
    }

    private void runOwn(RowInProgress row) {
      for (Task task : work.ownTasks()) {
        if (!row.has(task)) {
          tell(List.of(row), task.label());
          row.put(task, score(row, task));
        }
      }
    }

    private Score score(RowInProgress row, Task task) {
      return switch (task) {
        case NEEDLE -> new RetrievalRun(steps, work.needles()).run(row);
        case RECORDS -> new RetrievalRun(steps, work.records()).run(row);
        case CHAIN -> new ChainRun(steps, work.programs()).run(row);
        case JSONL -> new ExerciseRun(steps, work.exercises()).run(row);
        case PPL, KLD, PROSE, DRIFT -> throw new IllegalArgumentException(task.label());
      };
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
