package dev.kvasir.codec.mixkvq;

/**
 * Saliences that a channel must exceed to be kept as it is, or to get four bits. Where {@code mid}
 * is not below {@code high}, no channel gets four.
 */
public record Thresholds(float high, float mid) {
  /** Keeps every channel that is not constant: what takes the most bytes. */
  public static final Thresholds NONE = new Thresholds(0, 0);

  boolean isHigh(float salience) {
    return salience > high;
  }

  boolean isMid(float salience) {
    return salience > mid && !isHigh(salience);
  }
}
