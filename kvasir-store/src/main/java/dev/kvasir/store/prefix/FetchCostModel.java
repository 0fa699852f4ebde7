package dev.kvasir.store.prefix;

import dev.kvasir.store.ReadSpeed;
import java.time.Duration;

/**
 * Estimates whether fetching a prefix is faster than prefilling it, from recent measurements.
 * Thread-safe.
 */
final class FetchCostModel {
  /** The weight that earlier measurements keep when another one is added. */
  private static final double DECAY = 7.0 / 8;

  /** The longest wait for a store, however long the prefill would take. */
  static final Duration MAX_FETCH_TIMEOUT = Duration.ofSeconds(5);

  /** The shortest wait for a store, however fast the prefill would be. */
  static final Duration MIN_FETCH_TIMEOUT = Duration.ofMillis(200);

  /** Shorter prompts measure the latency of a step rather than the prefill throughput. */
  private static final int MIN_TOKENS = 64;

  private double tokens;
  private double nanos;
  private double blockBytes;
  private double blocks;

  synchronized void recordPrefill(int count, long tookNanos) {
    if (count >= MIN_TOKENS) {
      tokens = tokens * DECAY + count;
      nanos = nanos * DECAY + tookNanos;
    }
  }

  synchronized void recordFetch(int count, long bytes) {
    blocks = blocks * DECAY + count;
    blockBytes = blockBytes * DECAY + bytes;
  }

  /** Returns the seconds to prefill {@code count} tokens; infinite before the first measurement. */
  synchronized double prefillSeconds(int count) {
    return nanos == 0 ? Double.POSITIVE_INFINITY : count * nanos / tokens * 1e-9;
  }

  /**
   * Returns the seconds to fetch {@code count} blocks of average size and {@code others} more
   * bytes.
   */
  synchronized double fetchSeconds(ReadSpeed speed, int count, long others) {
    long each = blocks == 0 ? 0 : Math.round(blockBytes / blocks);
    return speed.secondsFor(count * each + others);
  }

  /** Returns the measured prefill throughput; 0 before the first measurement. */
  synchronized double prefillTokensPerSecond() {
    return nanos == 0 ? 0 : tokens / nanos * 1e9;
  }

  /**
   * Returns half of the prefill time within the bounds, so a failed fetch costs at most that much.
   */
  static Duration fetchTimeout(double prefillSeconds) {
    Duration half =
        prefillSeconds >= 2 * MAX_FETCH_TIMEOUT.toSeconds()
            ? MAX_FETCH_TIMEOUT
            : Duration.ofNanos((long) (prefillSeconds * 0.5e9));
    return half.compareTo(MIN_FETCH_TIMEOUT) < 0 ? MIN_FETCH_TIMEOUT : half;
  }
}
