package dev.kvasir.codec.ranked;

/** What a scale of keys belongs to. */
public enum KeyScaleGranularity {
  /** A channel, over the tokens of a tier. */
  CHANNEL,

  /** A token, over all channels, which are divided by factors first. */
  TOKEN
}
