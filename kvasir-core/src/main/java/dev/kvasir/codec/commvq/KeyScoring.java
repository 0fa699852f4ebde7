package dev.kvasir.codec.commvq;

/** How attention reads keys, for a few query rows. All ways see the same keys. */
public enum KeyScoring {
  /** A key is added up in whole numbers once for all query heads, and turned. */
  SUMS,

  /** As the paper does: products of each query with all rows, which tokens look up and turn. */
  TABLES,

  /** Keys and values are decoded to floats and then multiplied: what the others are to beat. */
  DECODED
}
