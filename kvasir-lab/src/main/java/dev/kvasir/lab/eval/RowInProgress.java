package dev.kvasir.lab.eval;

import dev.kvasir.cache.CacheBytes;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheShape;
import java.util.EnumMap;
import java.util.Map;

/** A row while its tasks run. What is found once is kept in the journal and not found again. */
final class RowInProgress {
  private static final Footprint NOT_WEIGHED =
      new Footprint(0, 0, 0, Double.NaN, Double.NaN, new CacheBytes(0, 0, 0, 0, 0));

  private final Contender contender;
  private final CacheShape shape;
  private final EvaluationJournal journal;
  private final Map<Task, Score> scores = new EnumMap<>(Task.class);
  private Footprint footprint;

  RowInProgress(Contender contender, CacheShape shape, EvaluationJournal journal) {
    this.contender = contender;
    this.shape = shape;
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

  /** Takes the bytes of a sequence at its end, and its speed. */
  void weigh(KvCache cache, double tokensPerSecond) {
    if (isWeighed()) {
      return;
    }
    CacheBytes parts = cache.bytes();
    long bytes = parts.total();
    double values = shape.valuesRead(cache.length());
    footprint =
        new Footprint(
            cache.length(),
            packedTokens(cache),
            bytes,
            8.0 * bytes / values,
            tokensPerSecond,
            parts);
    journal.add(contender.name(), footprint);
  }

  /** Of a layer, on the average: some hold a window alone. */
  private int packedTokens(KvCache cache) {
    long pages = 0;
    for (int block = 0; cache.firstPosition(block) < cache.length(); block++) {
      for (int layer = 0; layer < shape.layers(); layer++) {
        pages += cache.page(layer, block) == null ? 0 : 1;
      }
    }
    return (int) (pages * KvCache.TOKENS_PER_PAGE / shape.layers());
  }

  boolean hasScores() {
    return !scores.isEmpty();
  }

  Row row() {
    return new Row(contender.name(), footprint, new EnumMap<>(scores), Map.of());
  }
}
