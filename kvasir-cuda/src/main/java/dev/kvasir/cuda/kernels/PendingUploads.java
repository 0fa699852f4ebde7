package dev.kvasir.cuda.kernels;

import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.Resources;
import java.util.ArrayList;
import java.util.List;

/**
 * Host memory that a device may still be reading: it is freed together, after one wait for many
 * uploads. The wait comes when there is much of it, and at the end.
 */
final class PendingUploads implements AutoCloseable {
  /** Host memory from which on it is worth a wait. */
  static final long MAX_BYTES = 64L << 20;

  private final Runnable wait;
  private final List<AutoCloseable> sources = new ArrayList<>();
  private long bytes;

  PendingUploads(CudaStream stream) {
    this(stream::synchronize);
  }

  /**
   * @param wait waits for the uploads so far
   */
  PendingUploads(Runnable wait) {
    this.wait = wait;
  }

  /**
   * Adds host memory whose uploads have been submitted.
   *
   * @param source closed when it has been read
   */
  void add(AutoCloseable source, long sourceBytes) {
    sources.add(source);
    bytes += sourceBytes;
    if (bytes >= MAX_BYTES) {
      finish();
    }
  }

  private void finish() {
    try {
      wait.run();
    } finally {
      bytes = 0;
      Resources.closeAll(sources);
    }
  }

  @Override
  public void close() {
    if (!sources.isEmpty()) {
      finish();
    }
  }
}
