package dev.kvasir.engine;

import dev.kvasir.cache.KvCache;

/** The rows of a step whose hidden states a request receives. */
final class StateRows {
  private int first; // index of the first state in the batch
  private int count;

  /** Adds the rows of some positions to a batch. */
  void add(Batch batch, KvCache cache, int[] tokens, int from, int rows, StateReceiver to) {
    first = batch.stateRows();
    for (int i = from; i < from + rows; i++) {
      if (to.wants(i)) {
        batch.addForState(cache, tokens[i]);
      } else {
        batch.add(cache, tokens[i], false);
      }
    }
    count = batch.stateRows() - first;
  }

  /** Passes on the states of the step. */
  void collect(Batch batch, StateReceiver to) {
    for (int i = first; i < first + count; i++) {
      to.accept(batch.hiddenStates(), batch.stateAt(i));
    }
  }
}
