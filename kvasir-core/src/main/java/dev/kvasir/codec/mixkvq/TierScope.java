package dev.kvasir.codec.mixkvq;

/** The tokens that share the tiers of their key channels. */
public enum TierScope {
  /** As many tokens as {@code residual} says. */
  RESIDUAL,

  /**
   * All tokens that are quantized together: with exact prefill those of a prompt, as in Algorithm 1
   * of the paper. Generated tokens share them as with {@link #RESIDUAL}.
   */
  PROMPT
}
