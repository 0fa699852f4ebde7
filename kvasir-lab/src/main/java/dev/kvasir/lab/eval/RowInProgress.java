package dev.kvasir.lab.eval;

import dev.kvasir.cache.CacheBytes;
import java.util.EnumMap;
import java.util.Map;

/** A row while its tasks run. What is found once is kept in the journal and not found again. */
final class RowInProgress {
  private static final Footprint NOT_WEIGHED =
      new Footprint(0, 0, 0, Double.NaN, Double.NaN, new CacheBytes(0, 0, 0, 0, 0));

  private final Contender contender;
  private final EvaluationJournal journal;
  private final Map<Task, Score> scores = new EnumMap<>(Task.class);
  private Footprint footprint;

  RowInProgress(Contender contender, EvaluationJournal journal) {
    this.contender = contender;
    this.journal = journal;
    this.scores.putAll(journal.scores(contender.name()));
    this.footprint = journal.footprint(contender.name()).orElse(NOT_WEIGHED);
  }

  Contender contender() {
    return contender;
  }

  boolean has(Task task) {
    return scores.containsKey(task);
  }

  void put(Task task, Score score) {
    if (!has(task)) {
      scores.put(task, score);
      journal.add(contender.name(), task, score);
    }
  }

  boolean isWeighed() {
    return footprint != NOT_WEIGHED;
  }

  void weigh(Footprint found) {
    if (!isWeighed()) {
      footprint = found;
      journal.add(contender.name(), found);
    }
  }

  boolean hasScores() {
    return !scores.isEmpty();
  }

  Row row() {
    return new Row(contender.name(), footprint, new EnumMap<>(scores), Map.of());
  }
}
