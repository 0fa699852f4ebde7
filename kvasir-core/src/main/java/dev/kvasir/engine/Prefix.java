package dev.kvasir.engine;

import dev.kvasir.cache.KvCache;

/** A text to prefill, with a cache of its longest known prefix. */
public final class Prefix {
  private final KvCache cache;
  private final Object source;
  private final PrefixCache.PrefixRecorder recorder;

  Prefix(KvCache cache, Object source, PrefixCache.PrefixRecorder recorder) {
    this.cache = cache;
    this.source = source;
    this.recorder = recorder;
  }

  /** Returns the cache, which the caller owns and must close. */
  public KvCache cache() {
    return cache;
  }

  /**
   * Returns the same object for all texts that started from the same cached prefix; null for none.
   */
  public Object source() {
    return source;
  }

  /**
   * Called after a whole prefill step has been computed and quantized.
   *
   * @param recordsLast whether the text can be continued from its last whole step
   */
  void prefillStepDone(int stepEnd, boolean recordsLast) {
    recorder.prefillStepDone(cache, stepEnd, recordsLast);
  }

  /**
   * Records a point in the text, prompt or generated, at which every prompt has the same cache
   * state.
   */
  void record(int[] tokens, int length) {
    recorder.record(cache, tokens, length);
  }
}
