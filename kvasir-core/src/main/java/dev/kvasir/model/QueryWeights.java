package dev.kvasir.model;

/** Weights of multi-head attention to the keys and values of an earlier layer. */
record QueryWeights(
    Projection query, // (queryHeads * keyDim, hidden)
    HeadNorm queryNorm,
    Projection output) // (hidden, queryHeads * valueDim)
    implements AttentionWeights {
  @Override
  public long bytes() {
    return query.bytes() + queryNorm.bytes() + output.bytes();
  }
}
