package dev.kvasir.lab.eval;

import dev.kvasir.cache.CacheBytes;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheShape;
import java.util.EnumMap;
import java.util.Map;

/** A row while its tasks run. */
final class RowInProgress {
  private final Contender contender;
  private final CacheShape shape;
  private final Map<Task, Score> scores = new EnumMap<>(Task.class);
  private Footprint footprint =
      new Footprint(0, 0, 0, Double.NaN, Double.NaN, new CacheBytes(0, 0, 0, 0, 0));

  RowInProgress(Contender contender, CacheShape shape) {
    this.contender = contender;
    this.shape = shape;
  }

  Contender contender() {
    return contender;
  }

  void put(Task task, Score score) {
    scores.put(task, score);
  }

  /** Takes the bytes of a sequence at its end, and its speed. */
  void weigh(KvCache cache, double tokensPerSecond) {
    CacheBytes parts = cache.bytes();
    long bytes = parts.total();
    double values = (double) cache.length() * shape.valuesPerToken();
    footprint =
        new Footprint(
            cache.length(),
            packedTokens(cache),
            bytes,
            8.0 * bytes / values,
            tokensPerSecond,
            parts);
  }

  private static int packedTokens(KvCache cache) {
    int tokens = 0;
    for (int block = 0; cache.firstPosition(block) < cache.length(); block++) {
      tokens += cache.page(0, block) == null ? 0 : KvCache.TOKENS_PER_PAGE;
    }
    return tokens;
  }

  boolean hasScores() {
    return !scores.isEmpty();
  }

  Row row() {
    return new Row(contender.name(), footprint, new EnumMap<>(scores), Map.of());
  }
}
