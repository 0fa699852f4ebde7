package dev.kvasir.codec.patternkv;

/** The measure of a residual that the chosen pattern minimizes. */
public enum PatternChoice {
  /** The range of the residual over its channels, as in the paper. */
  RANGE,

  /** The sum of its squares. */
  DISTANCE,

  /**
   * The sum of its fourth powers, which large residuals dominate. Keys are quantized per channel
   * over the tokens of a group, where the largest residual determines the step size.
   */
  PEAKS
}
