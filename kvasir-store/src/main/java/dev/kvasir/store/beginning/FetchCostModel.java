package dev.kvasir.store.beginning;

import dev.kvasir.store.ReadSpeed;
import java.time.Duration;

/** What it takes to read tokens again and what to fetch them, as measured lately. */
final class FetchCostModel {
  /** What is left of what was known when another prompt has been read. */
  private static final double DECAY = 7.0 / 8;

  /** However long reading would take, nobody waits longer than this for a store. */
  static final Duration MAX_FETCH_TIMEOUT = Duration.ofSeconds(5);

  /** However soon it would be read, a store gets this long to answer. */
  static final Duration MIN_FETCH_TIMEOUT = Duration.ofMillis(200);

  /** Fewer than these tell how long a step takes rather than how fast a prompt is read. */
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

  /** Seconds to read so many tokens; more than anybody would wait where nothing was measured. */
  synchronized double prefillSeconds(int count) {
    return nanos == 0 ? Double.POSITIVE_INFINITY : count * nanos / tokens * 1e-9;
  }

  /** Seconds until so many blocks and other bytes have come. */
  synchronized double fetchSeconds(ReadSpeed speed, int count, long others) {
    long each = blocks == 0 ? 0 : Math.round(blockBytes / blocks);
    return speed.secondsFor(count * each + others);
  }

  /** Tokens of a prompt that were read in a second; 0 where nothing was measured. */
  synchronized double prefillTokensPerSecond() {
    return nanos == 0 ? 0 : tokens / nanos * 1e9;
  }

  /** Half of what reading would take: then the other half is lost at the most. */
  static Duration fetchTimeout(double prefillSeconds) {
    Duration half =
        prefillSeconds >= 2 * MAX_FETCH_TIMEOUT.toSeconds()
            ? MAX_FETCH_TIMEOUT
            : Duration.ofNanos((long) (prefillSeconds * 0.5e9));
    return half.compareTo(MIN_FETCH_TIMEOUT) < 0 ? MIN_FETCH_TIMEOUT : half;
  }
}
