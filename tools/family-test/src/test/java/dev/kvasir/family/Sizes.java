package dev.kvasir.family;

/** How large a tiny model is. */
record Sizes(int layers, int hidden, int feedForward, int queryHeads, int kvHeads, int headDim) {
  /** Four layers, heads that together are as wide as the hidden state. */
  static final Sizes SQUARE = new Sizes(4, 64, 96, 4, 2, 16);

  /** The same with heads that are wider. */
  static final Sizes WIDE = new Sizes(4, 64, 96, 4, 2, 32);

  Sizes withLayers(int other) {
    return new Sizes(other, hidden, feedForward, queryHeads, kvHeads, headDim);
  }

  Sizes withHeads(int query, int kv, int dim) {
    return new Sizes(layers, hidden, feedForward, query, kv, dim);
  }

  int queries() {
    return queryHeads * headDim;
  }

  int keys() {
    return kvHeads * headDim;
  }
}
