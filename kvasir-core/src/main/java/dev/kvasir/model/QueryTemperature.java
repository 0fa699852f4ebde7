package dev.kvasir.model;

/**
 * A factor of queries that grows with their positions, {@code 1 + rate ln(1 + floor(p / length))},
 * as in Ministral 3.
 *
 * @param rate 0 for none
 * @param length positions with the same factor
 */
public record QueryTemperature(double rate, int length) {
  public static final QueryTemperature NONE = new QueryTemperature(0, 1);

  /** Returns the factor at a position. */
  public float at(int position) {
    return rate == 0 ? 1 : (float) (1 + rate * Math.log(1 + position / length));
  }
}
