package dev.kvasir.kernel;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntFunction;

/** A cache of the rotation angles of page positions, which are the same in every layer. */
final class AngleCache {
  /** Cached positions: pages of half a million tokens. */
  private static final int MAX_POSITIONS = 4096;

  private final Map<Integer, RopeAngles> cached = new ConcurrentHashMap<>();

  /** Returns the angles of a position, computing them on a miss. A full cache is cleared. */
  RopeAngles of(int position, IntFunction<RopeAngles> make) {
    RopeAngles found = cached.get(position);
    if (found == null) {
      found = make.apply(position);
      if (cached.size() >= MAX_POSITIONS) {
        cached.clear();
      }
      cached.put(position, found);
    }
    return found;
  }
}
