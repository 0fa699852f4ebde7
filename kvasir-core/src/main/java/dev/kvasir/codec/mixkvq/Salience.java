package dev.kvasir.codec.mixkvq;

/** What makes a channel of keys worth its bits. */
public enum Salience {
  /** How far a code of two bits would be off, times what queries make of it. */
  QUERY,

  /** How far a code of two bits would be off, whether a query looks there or not. */
  ERROR
}
