package dev.kvasir.kernel;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntFunction;

/** Angles of the positions that pages begin at, which are the same in every layer. */
final class PageAngles {
  /** Positions that are kept: pages of half a million tokens. */
  private static final int MOST = 4096;

  private final Map<Integer, Angles> known = new ConcurrentHashMap<>();

  /** Those of a position; made where they are not known, and all others forgotten at times. */
  Angles of(int position, IntFunction<Angles> make) {
    Angles found = known.get(position);
    if (found == null) {
      found = make.apply(position);
      if (known.size() >= MOST) {
        known.clear();
      }
      known.put(position, found);
    }
    return found;
  }
}
