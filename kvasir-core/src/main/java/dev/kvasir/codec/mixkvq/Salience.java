package dev.kvasir.codec.mixkvq;

/** The measure of a key channel's importance. */
public enum Salience {
  /** The error of 2-bit codes times the query magnitude. */
  QUERY,

  /** The error of 2-bit codes, regardless of queries. */
  ERROR
}
