package dev.kvasir.codec;

/** Where the values of a KV head come from. */
public enum ValueOrigin {
  /** They are stored in addition to keys. */
  STORED,

  /**
   * They are the first channels of their keys and are not stored again. In latent attention, a key
   * is a latent vector followed by a few rotary channels, and the latent is also the value.
   */
  IN_KEYS
}
