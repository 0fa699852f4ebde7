package dev.kvasir.codec.latent;

import dev.kvasir.codec.Page;
import dev.kvasir.page.CodeMatrix;
import dev.kvasir.page.RowScaledCodes;
import dev.kvasir.page.WideCodes;

/** How many bits a channel that turns has beside a packed latent. A scale is a channel's own. */
public enum RotaryWidth {
  BITS_8 {
    @Override
    CodeMatrix grid(int channels) {
      return new RowScaledCodes(channels, Page.TOKENS, 8, Page.TOKENS);
    }
  },
  BITS_16 {
    @Override
    CodeMatrix grid(int channels) {
      return new WideCodes(channels, Page.TOKENS, false, Page.TOKENS);
    }
  };

  /** What the channels of a head become on a page. // (channels, tokens) */
  abstract CodeMatrix grid(int channels);
}
