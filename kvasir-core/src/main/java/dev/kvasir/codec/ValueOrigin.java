package dev.kvasir.codec;

/** Where a token's value comes from. */
public enum ValueOrigin {
  /** It is stored beside its key. */
  STORED,

  /**
   * It is the first channels of its key, and is not stored again. Latent attention is of that kind:
   * a key is a latent vector and a few channels that are rotated, and the latent is the value too.
   */
  IN_KEYS
}
