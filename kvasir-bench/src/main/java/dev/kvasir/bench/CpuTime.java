package dev.kvasir.bench;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.Locale;

/**
 * CPU seconds of the process, and the parts that are not the model's. With few processors, these
 * lengthen a step although they are not part of it.
 *
 * @param connections threads that write to clients, and clients in this process
 * @param compiler JIT compilation, wall-clock
 * @param collector garbage collection pauses, wall-clock
 */
record CpuTime(double all, double connections, double compiler, double collector) {
  /** Threads of Jetty, of the HTTP client, and carriers of virtual threads. */
  private static final String CONNECTIONS = "(kvasir-http|HttpClient|ForkJoinPool).*";

  /** Returns the CPU nanoseconds of all threads of Java; that of the process is less precise. */
  static long nanos() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long nanos = 0;
    for (long id : threads.getAllThreadIds()) {
      nanos += Math.max(0, threads.getThreadCpuTime(id));
    }
    return nanos;
  }

  static CpuTime now() {
    OperatingSystemMXBean system =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    long pauses =
        StreamTrace.pausing().stream().mapToLong(GarbageCollectorMXBean::getCollectionTime).sum();
    return new CpuTime(
        system.getProcessCpuTime() / 1e9,
        connectionNanos() / 1e9,
        ManagementFactory.getCompilationMXBean().getTotalCompilationTime() / 1e3,
        pauses / 1e3);
  }

  private static long connectionNanos() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long nanos = 0;
    for (ThreadInfo thread : threads.getThreadInfo(threads.getAllThreadIds())) {
      if (thread != null && thread.getThreadName().matches(CONNECTIONS)) {
        nanos += Math.max(0, threads.getThreadCpuTime(thread.getThreadId()));
      }
    }
    return nanos;
  }

  CpuTime since(CpuTime before) {
    return new CpuTime(
        all - before.all,
        connections - before.connections,
        compiler - before.compiler,
        collector - before.collector);
  }

  String text() {
    return String.format(
        Locale.ROOT,
        "processor time %.1f s, of which connections and their clients %.1f s; compiler %.1f s,"
            + " pauses of the garbage collector %.2f s",
        all,
        connections,
        compiler,
        collector);
  }
}
