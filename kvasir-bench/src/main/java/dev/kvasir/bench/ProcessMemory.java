package dev.kvasir.bench;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.OptionalLong;

/**
 * The memory of the process in bytes.
 *
 * @param resident total, mapped files included; empty if the system does not report it
 * @param weights of the model as loaded
 * @param caches of all sequences
 * @param heap committed by Java
 * @param heapUsed part of the heap in use, garbage included
 */
record ProcessMemory(
    OptionalLong resident, long weights, long caches, long heap, long heapUsed, int threads) {
  private static final Path STATUS = Path.of("/proc/self/status");

  static ProcessMemory now(long weights, long caches) {
    MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
    return new ProcessMemory(
        residentBytes(),
        weights,
        caches,
        heap.getCommitted(),
        heap.getUsed(),
        ManagementFactory.getThreadMXBean().getThreadCount());
  }

  private static OptionalLong residentBytes() {
    if (!Files.isReadable(STATUS)) {
      return OptionalLong.empty();
    }
    try {
      return Files.readAllLines(STATUS).stream()
          .filter(line -> line.startsWith("VmRSS:"))
          .mapToLong(line -> 1024 * Long.parseLong(line.replaceAll("[^0-9]", "")))
          .findFirst();
    } catch (IOException e) {
      return OptionalLong.empty();
    }
  }

  /** Returns what is neither weights nor caches nor the heap. */
  OptionalLong rest() {
    return resident.isEmpty()
        ? resident
        : OptionalLong.of(resident.getAsLong() - weights - caches - heap);
  }

  String text() {
    String whole =
        resident.isEmpty()
            ? "resident unknown"
            : "resident %s = weights %s + caches %s + heap %s + %s"
                .formatted(
                    mebibytes(resident.getAsLong()),
                    mebibytes(weights),
                    mebibytes(caches),
                    mebibytes(heap),
                    mebibytes(rest().getAsLong()));
    return "%s; of the heap used %s; %d threads".formatted(whole, mebibytes(heapUsed), threads);
  }

  static String mebibytes(long bytes) {
    return String.format(Locale.ROOT, "%.0f MiB", bytes / 1048576.0);
  }
}
