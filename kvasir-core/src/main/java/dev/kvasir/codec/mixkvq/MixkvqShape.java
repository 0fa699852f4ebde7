package dev.kvasir.codec.mixkvq;

/**
 * The sizes of a model that the method works on.
 *
 * @param queryHeads of a layer; 0 where no queries are shown
 */
public record MixkvqShape(int layers, int kvHeads, int keyDim, int valueDim, int queryHeads) {
  /** Of all keys of a layer. */
  int channels() {
    return kvHeads * keyDim;
  }

  int queriesPerKvHead() {
    return queryHeads / kvHeads;
  }
}
