package dev.kvasir.kernel;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntFunction;

/** Angles of the positions that pages begin at, which are the same in every layer. */
final class AngleCache {
  /** Positions that are kept: pages of half a million tokens. */
  private static final int MAX_POSITIONS = 4096;

  private final Map<Integer, RopeAngles> cached = new ConcurrentHashMap<>();

  /** Those of a position; made where they are not known, and all others forgotten at times. */
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
