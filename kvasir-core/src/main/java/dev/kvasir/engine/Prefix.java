package dev.kvasir.engine;

import dev.kvasir.cache.KvCache;

/** A text about to be read: a cache with what was known of its beginning. */
public final class Prefix {
  private final KvCache cache;
  private final Object source;
  private final int length;
  private final PrefixCache.PrefixRecorder recorder;

  Prefix(KvCache cache, Object source, PrefixCache.PrefixRecorder recorder) {
    this.cache = cache;
    this.source = source;
    this.length = cache.length();
    this.recorder = recorder;
  }

  /** Belongs to whoever begins: it is for them to close. */
  public KvCache cache() {
    return cache;
  }

  /** Tokens that need not be read. */
  public int length() {
    return length;
  }

  /** The same object for all that began from the same place; null where nothing was known. */
  public Object source() {
    return source;
  }

  /**
   * Told whenever a whole step of the prompt has been read and packed.
   *
   * @param leavesLast whether the text's last whole step is where it can be gone on with
   */
  void prefillStepDone(int stepEnd, boolean recordsLast) {
    recorder.prefillStepDone(cache, stepEnd, recordsLast);
  }

  /** Told of a place in the text, read or generated, that every prompt would leave alike. */
  void record(int[] tokens, int length) {
    recorder.record(cache, tokens, length);
  }
}
