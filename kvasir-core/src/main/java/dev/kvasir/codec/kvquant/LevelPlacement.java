package dev.kvasir.codec.kvquant;

/** Where the numbers lie that codes stand for. */
enum LevelPlacement {
  /** Where the numbers of a head are: Lloyd's iteration. */
  FITTED,

  /** At equal distances. */
  EVEN
}
