package dev.kvasir.codec.ranked;

/** What channels of keys by token are divided by. */
public enum KeyChannelFactors {
  /** The root of a channel's largest key: the channel's own reach is shared by key and factor. */
  MAX_MAGNITUDE,

  /** The same over the root of its largest query: keys and queries then reach as far. */
  BALANCED
}
