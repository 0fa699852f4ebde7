package dev.kvasir.codec.mixkvq;

import dev.kvasir.codec.ValueOrigin;

/**
 * The dimensions of a model.
 *
 * @param queryHeads query heads of a layer; 0 if queries are not observed
 * @param values where values come from
 */
public record MixkvqShape(
    int layers, int kvHeads, int keyDim, int valueDim, int queryHeads, ValueOrigin values) {
  /** A shape with stored values. */
  public MixkvqShape(int layers, int kvHeads, int keyDim, int valueDim, int queryHeads) {
    this(layers, kvHeads, keyDim, valueDim, queryHeads, ValueOrigin.STORED);
  }

  /** Returns the key channels of a layer. */
  int channels() {
    return kvHeads * keyDim;
  }

  int queriesPerKvHead() {
    return queryHeads / kvHeads;
  }
}
