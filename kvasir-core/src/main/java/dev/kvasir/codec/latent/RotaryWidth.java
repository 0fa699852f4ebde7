package dev.kvasir.codec.latent;

import dev.kvasir.codec.Page;
import dev.kvasir.page.CodeMatrix;
import dev.kvasir.page.RowScaledCodes;
import dev.kvasir.page.WideCodes;

/** The bits of a rotary channel. Scales are per channel. */
public enum RotaryWidth {
  BITS_8 {
    @Override
    CodeMatrix matrix(int channels) {
      return new RowScaledCodes(channels, Page.TOKENS, 8, Page.TOKENS);
    }
  },
  BITS_16 {
    @Override
    CodeMatrix matrix(int channels) {
      return new WideCodes(channels, Page.TOKENS, false, Page.TOKENS);
    }
  };

  /** Returns the layout of a head's rotary channels. // (channels, tokens) */
  abstract CodeMatrix matrix(int channels);
}
