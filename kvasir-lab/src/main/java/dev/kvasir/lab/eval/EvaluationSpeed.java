package dev.kvasir.lab.eval;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.runtime.LoadedModel;

/** Measures how fast an evaluation reads and compares tokens, to forecast its time. */
final class EvaluationSpeed {
  private static final int TOKENS = Score.BLOCK_TOKENS;

  /** The first round warms up and does not count. */
  private static final int ROUNDS = 2;

  private EvaluationSpeed() {}

  /** Returns tokens per second of a block at the beginning of a text. */
  static double tokensPerSecond(LoadedModel model) {
    int[] ids = new int[TOKENS + 1];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = i % model.config().vocabulary();
    }
    ReferenceDistributions reference =
        new ReferenceDistributions(TOKENS, model.config().vocabulary());
    double speed = 0;
    for (int round = 0; round < ROUNDS; round++) {
      long start = System.nanoTime();
      read(model, ids, reference);
      speed = TOKENS * 1e9 / (System.nanoTime() - start);
    }
    return speed;
  }

  private static void read(LoadedModel model, int[] ids, ReferenceDistributions reference) {
    try (KvCache cache = CandidateCache.of(CacheSpec.DEFAULT, model).newCache(model, ids.length)) {
      Batch batch = new Batch();
      for (int i = 0; i < TOKENS; i++) {
        batch.add(cache, ids[i], true);
      }
      model.forward(batch);
      reference.take(batch.logits(), batch::logitsAt, 0, TOKENS);
      reference.compare(batch.logits(), batch::logitsAt, 0, TOKENS, ids, 1);
    }
  }
}
