package dev.kvasir.codec.patternkv;

/** What a vector's pattern is to make small. */
public enum PatternChoice {
  /** The range of the residual over its channels, as in the paper. */
  RANGE,

  /** The sum of its squares. */
  DISTANCE,

  /**
   * The sum of its fourth powers, which large residuals rule. Keys are quantized by channel, over
   * the tokens of a group, and there it is the largest residual of a channel that sets the step.
   */
  PEAKS
}
