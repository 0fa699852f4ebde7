package dev.kvasir.codec;

/**
 * The precision to which queries and probabilities are rounded before they are multiplied with
 * codes ({@link dev.kvasir.kernel.QuantizedOperand}).
 */
public enum OperandPrecision {
  /** Two signed bytes per number: accurate to a ten-thousandth of the spread of scores. */
  EXACT,

  /** One signed byte per number: little more than half the work. */
  FAST
}
