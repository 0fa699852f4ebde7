package dev.kvasir.codec.mixkvq;

/**
 * The salience that a channel must exceed to stay in 16 bits ({@code high}) or to get four bits
 * ({@code mid}). If {@code mid} is not below {@code high}, no channel gets four.
 */
public record Thresholds(float high, float mid) {
  /** Keeps every non-constant channel in 16 bits: the largest size. */
  public static final Thresholds NONE = new Thresholds(0, 0);

  boolean isHigh(float salience) {
    return salience > high;
  }

  boolean isMid(float salience) {
    return salience > mid && !isHigh(salience);
  }
}
