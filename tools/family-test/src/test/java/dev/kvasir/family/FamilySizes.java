package dev.kvasir.family;

/** How large a tiny model is. */
record FamilySizes(
    int layers, int hidden, int feedForward, int queryHeads, int kvHeads, int headDim) {
  /** Four layers, heads that together are as wide as the hidden state. */
  static final FamilySizes SQUARE = new FamilySizes(4, 64, 96, 4, 2, 16);

  /** The same with heads that are wider. */
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
