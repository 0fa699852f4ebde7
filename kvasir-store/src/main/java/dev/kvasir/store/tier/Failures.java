package dev.kvasir.store.tier;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Counts the failures of a tier and reports them to a listener. Each kind of work is reported at
 * most once in ten minutes, so a full disk does not produce a message for every blob. Thread-safe.
 */
public final class Failures {
  private static final long REPORT_INTERVAL_NANOS = Duration.ofMinutes(10).toNanos();

  private final Consumer<String> listener;
  private final LongSupplier clock;
  private final AtomicLong count = new AtomicLong();
  private final Map<String, Long> lastReported = new HashMap<>();

  public Failures(Consumer<String> listener) {
    this(listener, System::nanoTime);
  }

  Failures(Consumer<String> listener, LongSupplier clock) {
    this.listener = listener;
    this.clock = clock;
  }

  /**
   * Counts a failure.
   *
   * @param work one of a few kinds of work, such as {@code reading}
   */
  public void add(String work, String sentence) {
    count.incrementAndGet();
    if (shouldReport(work)) {
      listener.accept(sentence);
    }
  }

  private synchronized boolean shouldReport(String work) {
    long now = clock.getAsLong();
    Long last = lastReported.get(work);
    if (last != null && now - last < REPORT_INTERVAL_NANOS) {
      return false;
    }
    lastReported.put(work, now);
    return true;
  }

  public long count() {
    return count.get();
  }
}
