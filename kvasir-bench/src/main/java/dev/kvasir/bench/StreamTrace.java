package dev.kvasir.bench;

import com.sun.management.GarbageCollectionNotificationInfo;
import com.sun.management.GcInfo;
import dev.kvasir.engine.Batch;
import dev.kvasir.engine.StepListener;
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

/** Records steps, quantization and garbage collection pauses while streams run. */
final class StreamTrace implements StepListener, AutoCloseable {
  /** Causes of a late token. */
  enum Kind {
    STEP("a step"),
    BESIDE_PACKING("a step while a prompt was packed"),
    PACKING("packing its own pages"),
    COLLECTOR("the garbage collector"),
    REST("between steps");

    final String words;

    Kind(String words) {
      this.words = words;
    }
  }

  /**
   * @param begin by {@link System#nanoTime}, like {@code end}
   * @param streamRows decode rows of a step; 0 for other events
   * @param promptRows prefill rows of a step; 0 for other events
   * @param streamTokens length of the first stream; negative if there was none
   * @param cpuEnd processor time of all Java threads at the end of a step with decode rows; 0 for
   *     other events
   */
  record TraceEvent(
      Kind kind,
      long begin,
      long end,
      int streamRows,
      int promptRows,
      int streamTokens,
      long cpuEnd) {
    TraceEvent(Kind kind, long begin, long end, int streamRows, int promptRows, int streamTokens) {
      this(kind, begin, end, streamRows, promptRows, streamTokens, 0);
    }

    static TraceEvent of(Kind kind, long begin, long end) {
      return new TraceEvent(kind, begin, end, 0, 0, -1);
    }

    int rows() {
      return streamRows + promptRows;
    }

    String line(long from) {
      return "%s,%d,%d,%d,%d,%d"
          .formatted(kind, begin - from, end - from, streamRows, promptRows, streamTokens);
    }

    long within(long from, long to) {
      return Math.max(0, Math.min(end, to) - Math.max(begin, from));
    }
  }

  private final Queue<TraceEvent> events = new ConcurrentLinkedQueue<>();
  private final NotificationListener collections = this::collected;
  private final long virtualMachineBegin =
      System.nanoTime() - ManagementFactory.getRuntimeMXBean().getUptime() * 1_000_000;

  StreamTrace() {
    for (GarbageCollectorMXBean bean : pausing()) {
      ((NotificationEmitter) bean).addNotificationListener(collections, null, null);
    }
  }

  /** Returns the collectors that pause; others report concurrent cycles. */
  static List<GarbageCollectorMXBean> pausing() {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
        .filter(bean -> bean instanceof NotificationEmitter)
        .filter(bean -> !bean.getName().matches(".*(Cycles|Concurrent).*"))
        .toList();
  }

  private void collected(Notification notification, Object unused) {
    if (notification.getUserData() instanceof CompositeData data) {
      GcInfo pause = GarbageCollectionNotificationInfo.from(data).getGcInfo();
      long begin = virtualMachineBegin + pause.getStartTime() * 1_000_000;
      long end = virtualMachineBegin + pause.getEndTime() * 1_000_000;
      events.add(TraceEvent.of(Kind.COLLECTOR, begin, end));
    }
  }

  @Override
  public void stepped(long begin, long end, Batch batch, int decodingRows) {
    int length = decodingRows > 0 ? batch.position(0) : -1;
    int prompts = batch.rows() - decodingRows;
    long cpu = decodingRows > 0 ? CpuTime.nanos() : 0;
    events.add(new TraceEvent(Kind.STEP, begin, end, decodingRows, prompts, length, cpu));
  }

  @Override
  public void quantized(long begin, long end, boolean ofPrompt) {
    Kind kind = ofPrompt ? Kind.BESIDE_PACKING : Kind.PACKING;
    events.add(TraceEvent.of(kind, begin, end));
  }

  List<TraceEvent> events() {
    return List.copyOf(events);
  }

  /** Returns one line for each event, with times relative to {@code from}. */
  List<String> lines(long from) {
    return events.stream().map(event -> event.line(from)).toList();
  }

  @Override
  public void close() throws ListenerNotFoundException {
    for (GarbageCollectorMXBean bean : pausing()) {
      ((NotificationEmitter) bean).removeNotificationListener(collections);
    }
  }
}
