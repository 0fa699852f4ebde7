package dev.kvasir.codec;

import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * The precision to which queries and probabilities are rounded before they are multiplied with
 * codes ({@link dev.kvasir.kernel.QuantizedOperand}).
 */
public enum OperandPrecision {
  /** Two signed bytes per number: accurate to a ten-thousandth of the spread of scores. */
  EXACT(15),

  /** One signed byte per number: little more than half the work. */
  FAST(8);

  /** The spec key, as in {@code operands=8}. */
  public static final String KEY = "operands";

  private static final SortedSet<Integer> BITS = new TreeSet<>(List.of(8, 15));

  private final int bits;

  OperandPrecision(int bits) {
    this.bits = bits;
  }

  /** Returns the precision of a spec, {@link #EXACT} unless it has the key. */
  public static OperandPrecision of(SpecText spec) {
    return spec.oneOf(KEY, EXACT.bits, BITS) == EXACT.bits ? EXACT : FAST;
  }
}
