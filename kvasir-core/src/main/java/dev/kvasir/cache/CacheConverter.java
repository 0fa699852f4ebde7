package dev.kvasir.cache;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.HeadShape;
import dev.kvasir.codec.SequenceObserver;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.Kernels;

/**
 * Converts a cache to another specification: fills an empty cache with the values that attention
 * reads from the old one. It works in steps, so that no more is dense at a time than during
 * prefill.
 */
public final class CacheConverter {
  private static final int TOKENS = KvCache.TOKENS_PER_PAGE;

  private final KvCache from;
  private final KvCache to;
  private final CacheShape shape;
  private final Kernels kernels;
  private float[] headKeys = {}; // (tokens, keyDim)
  private float[] headValues = {}; // (tokens, valueDim)
  private float[] keys = {}; // (tokens, kvHeads, keyDim)
  private float[] values = {}; // (tokens, kvHeads, valueDim)

  /**
   * @param to an empty cache
   * @param shape the shape of both caches
   */
  public CacheConverter(KvCache from, KvCache to, CacheShape shape, Kernels kernels) {
    this.from = from;
    this.to = to;
    this.shape = shape;
    this.kernels = kernels;
    for (int layer = 0; layer < shape.layers(); layer++) {
      HeadShape heads = shape.headsOf(layer);
      headKeys = ofSize(headKeys, TOKENS * heads.keyDim());
      headValues = ofSize(headValues, TOKENS * heads.valueDim());
      keys = ofSize(keys, TOKENS * heads.kvHeads() * heads.keyDim());
      values = ofSize(values, TOKENS * heads.kvHeads() * heads.valueDim());
    }
  }

  private static float[] ofSize(float[] scratch, int count) {
    return scratch.length < count ? new float[count] : scratch;
  }

  /** Rejects a cache that quantizes according to data known only while the model runs. */
  public static void requirePossible(CacheSpec spec, SequenceObserver to) {
    if (to.dependsOnAttention()) {
      throw new InvalidInputException(
          "the cache '%s' quantizes by attention statistics, which a session does not save; only a new session can use it"
              .formatted(spec));
    }
  }

  /**
   * Returns whether the old cache has everything that the new one needs. If layers have evicted
   * what the new one learns from or retains, the text must be prefilled again.
   */
  public boolean canConvert() {
    for (int layer = 0; layer < shape.layers(); layer++) {
      if (from.firstRetained(layer) > 0 && (to.isStateful() || !to.evicts(layer))) {
        return false;
      }
    }
    return true;
  }

  /**
   * Fills the new cache. Sliding-window layers are filled from their first retained position, and
   * what precedes it is evicted at the end. If the next token would read evicted positions, nothing
   * is retained.
   *
   * @param tokens the text, at least as many tokens as are cached
   * @param stepTokens maximum tokens of a step; steps end at its multiples
   * @param onlyWholeSteps whether tokens after the last whole step stay dense
   * @throws CacheFullException if the new cache cannot hold as much
   */
  public void fill(int[] tokens, int stepTokens, boolean onlyWholeSteps) {
    from.pin();
    try {
      while (to.length() < from.length()) {
        int begin = to.length();
        int end = Math.min(from.length(), begin - begin % stepTokens + stepTokens);
        step(tokens, begin, begin + Math.max(1, to.stepCapacity(end - begin)));
        if (!onlyWholeSteps || to.length() % stepTokens == 0) {
          to.quantizeWindow();
        }
      }
      to.copyStates(from);
      for (int layer = 0; layer < shape.layers(); layer++) {
        to.evict(layer, from.firstRetained(layer));
      }
      if (to.retainable(to.length()) < to.length()) {
        to.truncate(to.length()); // other sinks shift its blocks, and one of them is incomplete
      }
    } finally {
      from.unpin();
    }
  }

  private void step(int[] tokens, int begin, int end) {
    to.reserve(end);
    SequenceObserver observer = to.observer();
    for (int position = begin; observer.observesTokens() && position < end; position++) {
      observer.observe(position, tokens[position]);
    }
    for (int block = from.blockOf(begin); from.firstPosition(block) < end; block++) {
      for (int layer = 0; layer < shape.layers(); layer++) {
        if (from.firstPosition(block) >= from.firstRetained(layer)) {
          copy(layer, block, begin, end);
        }
      }
    }
    to.commit(end - begin);
  }

  /** Appends the tokens of a block that belong to a step. */
  private void copy(int layer, int block, int stepBegin, int stepEnd) {
    int first = from.firstPosition(block);
    int begin = Math.max(stepBegin, first);
    int end = Math.min(stepEnd, from.firstPosition(block + 1));
    HeadShape heads = shape.headsOf(layer);
    expand(heads, from.view(layer, block), end - first);
    int keysOfToken = heads.kvHeads() * heads.keyDim();
    int valuesOfToken = heads.kvHeads() * heads.valueDim();
    for (int position = begin; position < end; position++) {
      int token = position - first;
      to.append(layer, position, keys, token * keysOfToken, values, token * valuesOfToken);
    }
  }

  private void expand(HeadShape heads, BlockView view, int tokens) {
    int count = heads.kvHeads();
    for (int head = 0; head < count; head++) {
      view.expandKeys(kernels, head, tokens, headKeys);
      int keyDim = heads.keyDim();
      DenseBlock.spread(headKeys, keyDim, tokens, keys, head * keyDim, count * keyDim);
      if (!shape.hasValuesInKeys()) {
        view.expandValues(kernels, head, tokens, headValues);
        int valueDim = heads.valueDim();
        DenseBlock.spread(headValues, valueDim, tokens, values, head * valueDim, count * valueDim);
      }
    }
  }
}
