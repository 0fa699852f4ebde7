package dev.kvasir.format;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** What the current thread has allocated on the heap so far. */
final class AllocatedBytes {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private AllocatedBytes() {}

  static long bytes() {
    return THREADS.getCurrentThreadAllocatedBytes();
  }
}
