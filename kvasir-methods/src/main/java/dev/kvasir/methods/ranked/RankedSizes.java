package dev.kvasir.methods.ranked;

/**
 * Model sizes needed to rank tokens.
 *
 * @param queryHeads query heads of a layer; 0 if queries are not observed
 */
record RankedSizes(int layers, int kvHeads, int keyDim, int valueDim, int queryHeads) {
  /** Returns the channels of a token's queries in a layer. */
  int queryChannels() {
    return queryHeads * keyDim;
  }

  int queriesPerKvHead() {
    return queryHeads / kvHeads;
  }
}
