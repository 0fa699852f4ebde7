package dev.kvasir.methods.ranked;

/** What key channels are divided by before per-token quantization. */
public enum KeyChannelFactors {
  /** The root of a channel's largest key magnitude. */
  MAX_MAGNITUDE,

  /**
   * The same divided by the root of its largest query magnitude, which balances keys and queries.
   */
  BALANCED
}
