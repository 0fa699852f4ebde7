package dev.kvasir.lab.text;

import dev.kvasir.Model;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;

/** A model reads tokens into a cache, a block at a time, for who wants to see their vectors. */
public final class BlockwiseReading {
  private BlockwiseReading() {}

  /**
   * @param ids the tokens, the first {@code count} of which are read
   * @param cache empty
   * @param stopped asked before each block
   * @param read told of each block's first position, when its vectors are in the cache
   * @return false where it was stopped
   */
  public static boolean read(
      Model model, int[] ids, int count, KvCache cache, BooleanSupplier stopped, IntConsumer read) {
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
