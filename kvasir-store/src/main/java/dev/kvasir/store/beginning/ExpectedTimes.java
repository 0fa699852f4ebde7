package dev.kvasir.store.beginning;

import dev.kvasir.store.ReadSpeed;
import java.time.Duration;

/** What it takes to read tokens again and what to fetch them, as measured lately. */
final class ExpectedTimes {
  /** What is left of what was known when another prompt has been read. */
  private static final double KEPT = 7.0 / 8;

  /** However long reading would take, nobody waits longer than this for a store. */
  static final Duration LONGEST_WAIT = Duration.ofSeconds(5);

  /** However soon it would be read, a store gets this long to answer. */
  static final Duration SHORTEST_WAIT = Duration.ofMillis(200);

  private double tokens;
  private double nanos;
  private double bytesOfBlocks;
  private double blocks;

  synchronized void read(int count, long tookNanos) {
    tokens = tokens * KEPT + count;
    nanos = nanos * KEPT + tookNanos;
  }

  synchronized void fetched(int count, long bytes) {
    blocks = blocks * KEPT + count;
    bytesOfBlocks = bytesOfBlocks * KEPT + bytes;
  }

  /** Seconds to read so many tokens; more than anybody would wait where nothing was measured. */
  synchronized double toRead(int count) {
    return nanos == 0 ? Double.POSITIVE_INFINITY : count * nanos / tokens * 1e-9;
  }

  /** Seconds until so many blocks and other bytes have come. */
  synchronized double toFetch(ReadSpeed speed, int count, long others) {
    long each = blocks == 0 ? 0 : Math.round(bytesOfBlocks / blocks);
    return speed.secondsFor(count * each + others);
  }

  /** Tokens of a prompt that were read in a second; 0 where nothing was measured. */
  synchronized double tokensPerSecond() {
    return nanos == 0 ? 0 : tokens / nanos * 1e9;
  }

  /** Half of what reading would take: then the other half is lost at the most. */
  static Duration patience(double readSeconds) {
    Duration half =
        readSeconds >= 2 * LONGEST_WAIT.toSeconds()
            ? LONGEST_WAIT
            : Duration.ofNanos((long) (readSeconds * 0.5e9));
    return half.compareTo(SHORTEST_WAIT) < 0 ? SHORTEST_WAIT : half;
  }
}
