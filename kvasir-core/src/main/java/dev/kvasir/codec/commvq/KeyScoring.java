package dev.kvasir.codec.commvq;

/** How attention scores keys for a few query rows. All ways use the same keys. */
public enum KeyScoring {
  /** Adds up the rows of a key in integers, once for all query heads, and rotates the sum. */
  SUMS,

  /**
   * As in the paper: tabulates the products of each query with all rows; tokens look them up, and
   * the sums are rotated.
   */
  TABLES,

  /** Decodes keys and values to floats first: the baseline. */
  DECODED
}
