package dev.kvasir.store;

/**
 * How fast bytes come from a tier: an average over reads that forgets, so that a disk which was
 * warm yesterday is believed to be cold after a few slow reads. Before the first read it is a
 * guess.
 */
public final class ReadSpeed {
  /** What is left of what was known when another read is added. */
  private static final double DECAY = 7.0 / 8;

  private static final double NANOS_PER_SECOND = 1e9;

  private final double initialBytesPerSecond;
  private double bytes;
  private double nanos;

  ReadSpeed(double initialBytesPerSecond) {
    this.initialBytesPerSecond = initialBytesPerSecond;
  }

  /**
   * @param bytes that came, 0 where none came in time
   */
  synchronized void add(long bytes, long nanos) {
    this.bytes = this.bytes * DECAY + bytes;
    this.nanos = this.nanos * DECAY + Math.max(1, nanos);
  }

  public synchronized double bytesPerSecond() {
    return nanos == 0 ? initialBytesPerSecond : bytes / nanos * NANOS_PER_SECOND;
  }

  /** How long so many bytes will take; {@link Double#POSITIVE_INFINITY} where none ever came. */
  public double secondsFor(long bytes) {
    return bytes / bytesPerSecond();
  }
}
