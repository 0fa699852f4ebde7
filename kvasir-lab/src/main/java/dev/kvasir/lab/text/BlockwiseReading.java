package dev.kvasir.lab.text;

import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.runtime.LoadedModel;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;

/** Reads tokens into a cache block by block, for callers that inspect the vectors. */
public final class BlockwiseReading {
  private BlockwiseReading() {}

  /**
   * @param ids the tokens; the first {@code count} are read
   * @param cache an empty cache
   * @param stopped polled before each block
   * @param read called with each block's first position after its vectors are in the cache
   * @return false if it was stopped
   */
  public static boolean read(
      LoadedModel model,
      int[] ids,
      int count,
      KvCache cache,
      BooleanSupplier stopped,
      IntConsumer read) {
    Batch batch = new Batch();
    for (int from = 0; from < count; from = cache.length()) {
      if (stopped.getAsBoolean()) {
        return false;
      }
      batch.clear();
      for (int i = from; i < Math.min(count, from + KvCache.TOKENS_PER_PAGE); i++) {
        batch.add(cache, ids[i], false);
      }
      model.forward(batch);
      read.accept(from);
    }
    return true;
  }
}
