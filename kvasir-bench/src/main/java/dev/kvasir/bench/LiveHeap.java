package dev.kvasir.bench;

import com.sun.management.GarbageCollectionNotificationInfo;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import javax.management.ListenerNotFoundException;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;

/**
 * The least heap in use after a garbage collection. Its growth is a leak, while the heap in use
 * between collections and the committed heap also depend on when the collector runs.
 */
final class LiveHeap implements AutoCloseable {
  private static final long NONE = Long.MAX_VALUE;

  private final AtomicLong least = new AtomicLong(NONE);
  private final NotificationListener listener = this::collected;
  private final List<GarbageCollectorMXBean> collectors = StreamTrace.pausing();
  private final Set<String> heapPools =
      ManagementFactory.getMemoryPoolMXBeans().stream()
          .filter(pool -> pool.getType() == MemoryType.HEAP)
          .map(MemoryPoolMXBean::getName)
          .collect(Collectors.toSet());

  LiveHeap() {
    for (GarbageCollectorMXBean bean : collectors) {
      ((NotificationEmitter) bean).addNotificationListener(listener, null, null);
    }
  }

  private void collected(Notification notification, Object unused) {
    if (notification.getUserData() instanceof CompositeData data) {
      long used =
          GarbageCollectionNotificationInfo.from(data)
              .getGcInfo()
              .getMemoryUsageAfterGc()
              .entrySet()
              .stream()
              .filter(pool -> heapPools.contains(pool.getKey()))
              .map(Map.Entry::getValue)
              .mapToLong(usage -> usage.getUsed())
              .sum();
      least.accumulateAndGet(used, Math::min);
    }
  }

  /** Returns the bytes since the last call; empty if no garbage was collected. */
  OptionalLong takeBytes() {
    long bytes = least.getAndSet(NONE);
    return bytes == NONE ? OptionalLong.empty() : OptionalLong.of(bytes);
  }

  @Override
  public void close() throws ListenerNotFoundException {
    for (GarbageCollectorMXBean bean : collectors) {
      ((NotificationEmitter) bean).removeNotificationListener(listener);
    }
  }
}
