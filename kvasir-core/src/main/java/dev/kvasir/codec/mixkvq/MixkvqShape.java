package dev.kvasir.codec.mixkvq;

/**
 * The sizes of a model that the method works on.
 *
 * @param queryHeads of a layer; 0 where no queries are shown
 */
public record MixkvqShape(int layers, int kvHeads, int headDim, int queryHeads) {
  int channels() {
    return kvHeads * headDim;
  }

  int queriesPerKvHead() {
    return queryHeads / kvHeads;
  }
}
