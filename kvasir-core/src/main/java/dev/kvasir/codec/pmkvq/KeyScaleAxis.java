package dev.kvasir.codec.pmkvq;

import dev.kvasir.codec.Page;

/** What a scale of keys belongs to. Both take the same bytes in heads of 32, 64, 128 or 256. */
public enum KeyScaleAxis {
  /** A token, in groups of at most 128 channels: the paper's. */
  TOKEN,

  /** A channel, in groups of tokens: channels of keys differ more than their tokens do. */
  CHANNEL;

  private static final int MIN_TOKENS = 32;

  /**
   * Tokens of a channel that share a scale: as many as a token's group has channels, where that
   * divides a page.
   */
  public static int tokensPerGroup(int keyDim) {
    return Math.clamp(Integer.highestOneBit(keyDim), MIN_TOKENS, Page.TOKENS);
  }
}
