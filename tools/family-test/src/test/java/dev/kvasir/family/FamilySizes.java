package dev.kvasir.family;

/** The sizes of a tiny model. */
record FamilySizes(
    int layers, int hidden, int feedForward, int queryHeads, int kvHeads, int headDim) {
  /** Four layers whose heads together are as wide as the hidden state. */
  static final FamilySizes SQUARE = new FamilySizes(4, 64, 96, 4, 2, 16);

  /** Like {@link #SQUARE} with wider heads. */
  static final FamilySizes WIDE = new FamilySizes(4, 64, 96, 4, 2, 32);

  FamilySizes withLayers(int other) {
    return new FamilySizes(other, hidden, feedForward, queryHeads, kvHeads, headDim);
  }

  FamilySizes withHeads(int query, int kv, int dim) {
    return new FamilySizes(layers, hidden, feedForward, query, kv, dim);
  }

  int queries() {
    return queryHeads * headDim;
  }

  int keys() {
    return kvHeads * headDim;
  }
}
