package dev.kvasir.store;

/**
 * The read throughput of a tier: an exponentially decaying average over reads. It follows a disk
 * whose page cache has gone cold within a few reads. Before the first read it is the tier's initial
 * estimate. Thread-safe.
 */
public final class ReadSpeed {
  /** The weight that earlier reads keep when another one is added. */
  private static final double DECAY = 7.0 / 8;

  private static final double NANOS_PER_SECOND = 1e9;

  private final double initialBytesPerSecond;
  private double bytes;
  private double nanos;

  ReadSpeed(double initialBytesPerSecond) {
    this.initialBytesPerSecond = initialBytesPerSecond;
  }

  /**
   * Adds a read.
   *
   * @param bytes that arrived; 0 if none arrived in time
   */
  synchronized void add(long bytes, long nanos) {
    this.bytes = this.bytes * DECAY + bytes;
    this.nanos = this.nanos * DECAY + Math.max(1, nanos);
  }

  public synchronized double bytesPerSecond() {
    return nanos == 0 ? initialBytesPerSecond : bytes / nanos * NANOS_PER_SECOND;
  }

  /**
   * Returns the expected seconds to read {@code bytes}; {@link Double#POSITIVE_INFINITY} if no read
   * ever returned any.
   */
  public double secondsFor(long bytes) {
    return bytes / bytesPerSecond();
  }
}
