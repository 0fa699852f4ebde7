package dev.kvasir.lab.gradient;

/**
 * A range of distances from a key to a later query, in positions; 0 is the query's own position.
 *
 * @param end the first distance beyond the range
 */
record DistanceRange(int from, int end) {
  static final DistanceRange ALL = new DistanceRange(0, Integer.MAX_VALUE);

  DistanceRange {
    if (from < 0 || end < 0) {
      throw new IllegalArgumentException(
          "queries are near up to %d positions; expected at least 0"
              .formatted(Math.min(from, end)));
    }
  }

  static DistanceRange below(int near) {
    return new DistanceRange(0, near);
  }

  static DistanceRange atLeast(int near) {
    return new DistanceRange(near, Integer.MAX_VALUE);
  }

  boolean contains(int distance) {
    return from <= distance && distance < end;
  }

  boolean containsAll(int least, int most) {
    return contains(least) && contains(most);
  }

  boolean overlaps(int least, int most) {
    return least < end && from <= most;
  }
}
