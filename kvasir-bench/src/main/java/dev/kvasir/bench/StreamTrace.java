package dev.kvasir.bench;

import com.sun.management.GarbageCollectionNotificationInfo;
import com.sun.management.GcInfo;
import dev.kvasir.engine.StepWatch;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import javax.management.ListenerNotFoundException;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;

/** What the process did while streams ran: steps, packing, pauses of the garbage collector. */
final class StreamTrace implements StepWatch, AutoCloseable {
  /** What may make a token late. */
  enum Kind {
    STEP("a step"),
    PACKING("packing its own pages"),
    COLLECTOR("the garbage collector"),
    REST("between steps");

    final String words;

    Kind(String words) {
      this.words = words;
    }
  }

  /**
   * @param begin by {@link System#nanoTime}, as {@code end}
   * @param rows of a step; 0 for others
   */
  record Event(Kind kind, long begin, long end, int rows) {
    long within(long from, long to) {
      return Math.max(0, Math.min(end, to) - Math.max(begin, from));
    }
  }

  private final Queue<Event> events = new ConcurrentLinkedQueue<>();
  private final NotificationListener collections = this::collected;
  private final long virtualMachineBegin =
      System.nanoTime() - ManagementFactory.getRuntimeMXBean().getUptime() * 1_000_000;

  StreamTrace() {
    for (GarbageCollectorMXBean bean : pausing()) {
      ((NotificationEmitter) bean).addNotificationListener(collections, null, null);
    }
  }

  /** Collectors tell of their cycles as well, during which the rest goes on. */
  private static List<GarbageCollectorMXBean> pausing() {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
        .filter(bean -> bean instanceof NotificationEmitter)
        .filter(bean -> !bean.getName().matches(".*(Cycles|Concurrent).*"))
        .toList();
  }

  private void collected(Notification told, Object unused) {
    if (told.getUserData() instanceof CompositeData data) {
      GcInfo pause = GarbageCollectionNotificationInfo.from(data).getGcInfo();
      long begin = virtualMachineBegin + pause.getStartTime() * 1_000_000;
      long end = virtualMachineBegin + pause.getEndTime() * 1_000_000;
      events.add(new Event(Kind.COLLECTOR, begin, end, 0));
    }
  }

  @Override
  public void stepped(long begin, long end, int rows, int decoding) {
    events.add(new Event(Kind.STEP, begin, end, rows));
  }

  /** Others pack beside steps; a stream waits for its own packing. */
  @Override
  public void packed(long begin, long end, boolean ofPrompt) {
    if (!ofPrompt) {
      events.add(new Event(Kind.PACKING, begin, end, 0));
    }
  }

  List<Event> events() {
    return List.copyOf(events);
  }

  @Override
  public void close() throws ListenerNotFoundException {
    for (GarbageCollectorMXBean bean : pausing()) {
      ((NotificationEmitter) bean).removeNotificationListener(collections);
    }
  }
}
