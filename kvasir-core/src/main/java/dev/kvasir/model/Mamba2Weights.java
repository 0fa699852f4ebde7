package dev.kvasir.model;

/**
 * Weights of a Mamba-2 layer.
 *
 * @param convolutionBias may be empty
 * @param decay factor of the decay in each head, below 0
 * @param skip factor of a head's input in its output
 */
public record Mamba2Weights(
    Projection input, // (gates, convolved channels, step sizes; hidden)
    float[] kernel, // (taps, convolved), the tap of the token itself last
    float[] convolutionBias, // (convolved)
    float[] stepBias, // (heads)
    float[] decay, // (heads)
    float[] skip, // (heads)
    float[] norm, // (groups, inner / groups)
    Projection output) // (hidden, inner)
    implements AttentionWeights {
  @Override
  public long bytes() {
    long floats =
        (long) kernel.length
            + convolutionBias.length
            + stepBias.length
            + decay.length
            + skip.length
            + norm.length;
    return input.bytes() + floats * Float.BYTES + output.bytes();
  }
}
