package dev.kvasir.codec.pmkvq;

import dev.kvasir.codec.LayerSensitivities.KeyScales;
import dev.kvasir.codec.Page;

/** The axis of key scales. Both take the same bytes for heads of 32, 64, 128 or 256 channels. */
public enum KeyScaleAxis {
  /** Per token, in groups of at most 128 channels, as in the paper. */
  TOKEN,

  /** Per channel, in groups of tokens: key channels differ more than tokens do. */
  CHANNEL;

  private static final int MIN_TOKENS = 32;

  /** Returns which sensitivities of layers were measured with these scales. */
  public KeyScales sensitivities() {
    return this == TOKEN ? KeyScales.TOKEN : KeyScales.CHANNEL;
  }

  /**
   * Returns the tokens of a channel that share a scale: as many as a token's group has channels, if
   * that divides a page.
   */
  public static int tokensPerGroup(int keyDim) {
    return Math.clamp(Integer.highestOneBit(keyDim), MIN_TOKENS, Page.TOKENS);
  }
}
