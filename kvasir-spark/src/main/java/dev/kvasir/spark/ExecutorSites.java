package dev.kvasir.spark;

import dev.kvasir.lab.work.Materials;
import dev.kvasir.lab.work.Worksite;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * What this process has opened, once for all pieces of the same materials. An executor keeps it as
 * long as it lives, which is as long as its job does.
 */
final class ExecutorSites {
  private static final Map<Materials, Worksite> OPEN = new HashMap<>();

  private static final Set<Materials> WANTED_BACK = ConcurrentHashMap.newKeySet();

  /** Held for reading by every piece that runs, so that nothing is closed under it. */
  private static final ReadWriteLock BUSY = new ReentrantReadWriteLock();

  private ExecutorSites() {}

  /** Runs something with what materials make, which the first to come opens. */
  static <T> T at(Materials materials, Supplier<Worksite> opening, Function<Worksite, T> work) {
    BUSY.readLock().lock();
    try {
      return work.apply(opened(materials, opening));
    } finally {
      BUSY.readLock().unlock();
    }
  }

  private static synchronized Worksite opened(Materials materials, Supplier<Worksite> opening) {
    return OPEN.computeIfAbsent(materials, any -> opening.get());
  }

  /** Lets pieces that run in this process use what is open already. */
  static synchronized void lend(Materials materials, Worksite site) {
    WANTED_BACK.remove(materials);
    OPEN.put(materials, site);
  }

  /** Whether somebody waits for pieces to leave; Spark itself tells no piece when it ends. */
  static boolean isWantedBack(Materials materials) {
    return WANTED_BACK.contains(materials);
  }

  /** Takes it back as soon as the last piece has left. */
  static void takeBack(Materials materials) {
    WANTED_BACK.add(materials);
    BUSY.writeLock().lock();
    try {
      forget(materials);
    } finally {
      BUSY.writeLock().unlock();
    }
  }

  private static synchronized void forget(Materials materials) {
    OPEN.remove(materials);
  }
}
