package dev.kvasir.codec.latent;

import dev.kvasir.codec.Page;
import dev.kvasir.page.CodeGrid;
import dev.kvasir.page.EntryScaledCodes;
import dev.kvasir.page.WideCodes;

/** How many bits a channel that turns has beside a packed latent. A scale is a channel's own. */
public enum RotaryWidth {
  BITS_8 {
    @Override
    CodeGrid grid(int channels) {
      return new EntryScaledCodes(channels, Page.TOKENS, 8, Page.TOKENS);
    }
  },
  BITS_16 {
    @Override
    CodeGrid grid(int channels) {
      return new WideCodes(channels, Page.TOKENS, false, Page.TOKENS);
    }
  };

  /** What the channels of a head become on a page. // (channels, tokens) */
  abstract CodeGrid grid(int channels);
}
