package dev.kvasir.model;

/** Weights of a gated short convolution. */
public record ShortConvWeights(
    Projection input, // (3 * hidden, hidden): gates before and after the convolution, then values
    float[] kernel, // (taps, hidden), the tap of the token itself last
    Projection output) // (hidden, hidden)
    implements AttentionWeights {
  @Override
  public long bytes() {
    return input.bytes() + (long) kernel.length * Float.BYTES + output.bytes();
  }
}
