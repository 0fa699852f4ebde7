package dev.kvasir.codec.ranked;

/**
 * The sizes of a model that tokens are ranked in.
 *
 * @param queryHeads of a layer; 0 where no queries are shown
 */
record RankedSizes(int layers, int kvHeads, int keyDim, int valueDim, int queryHeads) {
  /** Numbers of a token's queries in a layer. */
  int queryChannels() {
    return queryHeads * keyDim;
  }

  int queriesPerKvHead() {
    return queryHeads / kvHeads;
  }
}
