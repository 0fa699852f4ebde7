package dev.kvasir.encoder;

/**
 * A text, or two as one, as an encoder takes it.
 *
 * @param types for each token 0, or 1 if it belongs to the second text
 */
public record EncoderText(int[] tokens, int[] types) {
  public EncoderText {
    if (tokens.length != types.length) {
      throw new IllegalArgumentException(
          "%d tokens have %d types".formatted(tokens.length, types.length));
    }
  }

  /** Returns a single text. */
  public static EncoderText of(int[] tokens) {
    return new EncoderText(tokens, new int[tokens.length]);
  }
}
