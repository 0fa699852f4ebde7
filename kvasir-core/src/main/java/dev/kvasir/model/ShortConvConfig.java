package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;

/**
 * Sizes of a gated short convolution, as in LFM2.
 *
 * @param taps tokens that an output depends on, its own included
 * @param channels of inputs and outputs
 */
public record ShortConvConfig(int taps, int channels) implements RecurrentConfig.Sizes {
  @Override
  public long stateFloats() {
    return (taps - 1L) * channels;
  }

  @Override
  public long widest() {
    return 3L * channels;
  }

  @Override
  public String description() {
    return "convolutions over %d tokens".formatted(taps);
  }

  @Override
  public void check(String fileName) {
    if (taps < 2 || taps > 64) {
      throw new InvalidInputException(
          "%s: convolutions have %d taps; expected 2 to 64".formatted(fileName, taps));
    }
  }
}
