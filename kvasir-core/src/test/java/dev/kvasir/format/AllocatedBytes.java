package dev.kvasir.format;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** The heap bytes that the current thread has allocated. */
final class AllocatedBytes {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private AllocatedBytes() {}

  static long bytes() {
    return THREADS.getCurrentThreadAllocatedBytes();
  }
}
