package dev.kvasir.methods.ranked;

/** What a scale of keys covers. */
public enum KeyScaleGranularity {
  /** A channel, over the tokens of a tier. */
  CHANNEL,

  /** A token, over all channels, after division by channel factors. */
  TOKEN
}
