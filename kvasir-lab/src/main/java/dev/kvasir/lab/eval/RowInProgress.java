package dev.kvasir.lab.eval;

import dev.kvasir.cache.CacheBytes;
import java.util.EnumMap;
import java.util.Map;

/** A row whose tasks are running. Results are saved in the journal and not computed again. */
final class RowInProgress {
  private static final Footprint NO_FOOTPRINT =
      new Footprint(0, 0, 0, Double.NaN, Double.NaN, new CacheBytes(0, 0, 0, 0, 0));

  private final CandidateCache candidate;
  private final EvaluationJournal journal;
  private final Map<Task, Score> scores = new EnumMap<>(Task.class);
  private Footprint footprint;

  RowInProgress(CandidateCache candidate, EvaluationJournal journal) {
    this.candidate = candidate;
    this.journal = journal;
    this.scores.putAll(journal.scores(candidate.name()));
    this.footprint = journal.footprint(candidate.name()).orElse(NO_FOOTPRINT);
  }

  CandidateCache candidate() {
    return candidate;
  }

  boolean has(Task task) {
    return scores.containsKey(task);
  }

  void put(Task task, Score score) {
    if (!has(task)) {
      scores.put(task, score);
      journal.add(candidate.name(), task, score);
    }
  }

  boolean hasFootprint() {
    return footprint != NO_FOOTPRINT;
  }

  void putFootprint(Footprint found) {
    if (!hasFootprint()) {
      footprint = found;
      journal.add(candidate.name(), found);
    }
  }

  /** Returns the decoding speed; {@code NaN} if it has not been measured. */
  double tokensPerSecond() {
    return footprint.tokensPerSecond();
  }

  boolean hasScores() {
    return !scores.isEmpty();
  }

  Row row() {
    return new Row(candidate.name(), footprint, new EnumMap<>(scores), Map.of());
  }
}
