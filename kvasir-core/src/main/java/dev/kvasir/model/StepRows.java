package dev.kvasir.model;

import dev.kvasir.cache.KvCache;
import dev.kvasir.cache.RecurrentStates;
import dev.kvasir.codec.SequenceObserver;
import dev.kvasir.engine.Batch;
import java.util.Arrays;

/**
 * Rows of the current step and the caches of their sequences. A sequence that fails does not affect
 * the others.
 */
final class StepRows {
  private final int queryChannels;
  private Batch batch;
  private int[] sequenceOfRow = {};

  /**
   * @param queryChannels channels of all query heads of a token; the most if layers differ
   */
  StepRows(int queryChannels) {
    this.queryChannels = queryChannels;
  }

  void ensureCapacity(int rows) {
    sequenceOfRow = new int[rows];
  }

  void begin(Batch step, LayerAttention attention) {
    batch = step;
    attention.begin();
    for (int s = 0; s < batch.sequences(); s++) {
      int first = batch.firstRow(s);
      int count = batch.endRow(s) - first;
      int stepEnd = batch.stepEnd(s);
      Arrays.fill(sequenceOfRow, first, first + count, s);
      if (admit(s, stepEnd)) {
        KvCache cache = batch.cache(s);
        if (batch.isDraft(s) && !cache.prefillsOnStoredPages()) {
          addOneByOne(attention, cache, first, count);
        } else {
          attention.add(cache, first, count, batch.position(first), batch.stepBegin(s), stepEnd);
        }
      }
    }
  }

  /** Adds rows as steps of one token each: several together could compute on expanded pages. */
  private void addOneByOne(LayerAttention attention, KvCache cache, int first, int count) {
    for (int row = first; row < first + count; row++) {
      int position = batch.position(row);
      attention.add(cache, row, 1, position, position, position + 1);
    }
  }

  private boolean admit(int sequence, int length) {
    try {
      KvCache cache = batch.cache(sequence);
      cache.reserve(length);
      if (batch.isDraft(sequence)) {
        cache.beginDraft(batch.endRow(sequence) - batch.firstRow(sequence), queryChannels);
      }
      observeTokens(sequence);
      return true;
    } catch (RuntimeException e) {
      batch.fail(sequence, e);
      return false;
    }
  }

  private void observeTokens(int sequence) {
    SequenceObserver observer = batch.cache(sequence).observer();
    if (observer.observesTokens()) {
      for (int row = batch.firstRow(sequence); row < batch.endRow(sequence); row++) {
        observer.observe(batch.position(row), batch.token(row));
      }
    }
  }

  /**
   * Commits the positions, now that every layer has them; those of a draft are left to the caller.
   * A failed step thus leaves caches unchanged.
   */
  void end(LayerAttention attention) {
    for (int s = 0; s < batch.sequences(); s++) {
      if (!batch.hasFailed(s) && !batch.isDraft(s)) {
        batch.cache(s).commit(batch.endRow(s) - batch.firstRow(s));
      }
    }
    attention.begin();
    batch = null;
  }

  Batch batch() {
    return batch;
  }

  int sequenceOf(int row) {
    return sequenceOfRow[row];
  }

  /** Returns the recurrent states of a sequence; null if it has failed. */
  RecurrentStates states(int sequence) {
    return batch.hasFailed(sequence) ? null : batch.cache(sequence).states().orElseThrow();
  }

  int count() {
    return batch.rows();
  }

  /**
   * Appends a row's keys and values to its cache, from {@code k} and {@code v} on, and lets it
   * observe the queries.
   */
  void appendToCache(
      int layer, int row, float[] keys, int k, float[] values, int v, float[] queries, int q) {
    int sequence = sequenceOfRow[row];
    if (batch.hasFailed(sequence)) {
      return;
    }
    KvCache cache = batch.cache(sequence);
    try {
      cache.append(layer, batch.position(row), keys, k, values, v);
      SequenceObserver observer = cache.observer();
      if (observer.observesQueries()) {
        observer.observe(layer, batch.position(row), queries, q);
      }
    } catch (RuntimeException e) {
      batch.fail(sequence, e);
    }
  }
}
