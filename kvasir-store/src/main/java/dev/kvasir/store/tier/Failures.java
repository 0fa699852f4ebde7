package dev.kvasir.store.tier;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Counts what goes wrong with a tier and tells it to a listener, one sentence for each kind of
 * work, and the next of that kind ten minutes later at the earliest: a disk that is full all night
 * is one thing to say, and not one for every blob.
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
   * @param work what failed, of which there are few, say {@code reading}
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
