package dev.kvasir.lab.gradient;

/**
 * How far behind a query the keys lie that are meant, in positions; 0 is the query's own.
 *
 * @param end the first distance that is too far
 */
record Distances(int from, int end) {
  static final Distances ALL = new Distances(0, Integer.MAX_VALUE);

  Distances {
    if (from < 0 || end < 0) {
      throw new IllegalArgumentException(
          "queries are near up to %d positions; expected at least 0"
              .formatted(Math.min(from, end)));
    }
  }

  static Distances below(int near) {
    return new Distances(0, near);
  }

  static Distances atLeast(int near) {
    return new Distances(near, Integer.MAX_VALUE);
  }

  boolean hold(int distance) {
    return from <= distance && distance < end;
  }

  boolean holdAll(int least, int most) {
    return hold(least) && hold(most);
  }

  boolean holdAny(int least, int most) {
    return least < end && from <= most;
  }
}
