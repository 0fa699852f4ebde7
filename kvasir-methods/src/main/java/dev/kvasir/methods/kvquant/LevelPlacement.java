package dev.kvasir.methods.kvquant;

/** Where the quantization levels are placed. */
enum LevelPlacement {
  /** Fitted to the numbers of a head by Lloyd's iteration. */
  FITTED,

  /** Evenly spaced. */
  EVEN
}
