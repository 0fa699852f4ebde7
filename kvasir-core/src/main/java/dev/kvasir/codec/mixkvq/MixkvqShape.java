package dev.kvasir.codec.mixkvq;

import dev.kvasir.codec.ValueOrigin;

/**
 * The sizes of a model that the method works on.
 *
 * @param queryHeads of a layer; 0 where no queries are shown
 * @param values where values come from
 */
public record MixkvqShape(
    int layers, int kvHeads, int keyDim, int valueDim, int queryHeads, ValueOrigin values) {
  /** Values that are stored. */
  public MixkvqShape(int layers, int kvHeads, int keyDim, int valueDim, int queryHeads) {
    this(layers, kvHeads, keyDim, valueDim, queryHeads, ValueOrigin.STORED);
  }

  /** Of all keys of a layer. */
  int channels() {
    return kvHeads * keyDim;
  }

  int queriesPerKvHead() {
    return queryHeads / kvHeads;
  }
}
