package dev.kvasir.server.watch;

import java.util.Arrays;

/** Measures events per second over the last full seconds. */
final class RateMeter {
  private static final int SECONDS = 4;

  private final long[] counts = new long[SECONDS + 1]; // ring buffer, one entry per second
  private final long begin = System.nanoTime();
  private long second;

  synchronized void count() {
    advance();
    counts[(int) (second % counts.length)]++;
  }

  synchronized double perSecond() {
    advance();
    long now = counts[(int) (second % counts.length)];
    return (Arrays.stream(counts).sum() - now) / (double) SECONDS;
  }

  private void advance() {
    long now = (System.nanoTime() - begin) / 1_000_000_000;
    for (long next = Math.max(second + 1, now - SECONDS); next <= now; next++) {
      counts[(int) (next % counts.length)] = 0;
    }
    second = now;
  }
}
