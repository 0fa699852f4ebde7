package dev.kvasir.cli.terminal;

import java.util.OptionalDouble;
import java.util.function.LongSupplier;

/**
 * Shows the progress of long work on standard error. On a terminal this is a bar that appears after
 * a second, so that short work does not flicker; closing it clears the line. Otherwise it prints a
 * line periodically, the first once the remaining time can be estimated.
 */
public final class Progress implements AutoCloseable {
  private static final long DELAY_NANOS = 1_000_000_000L;
  private static final long REDRAW_NANOS = 100_000_000L;
  private static final long FIRST_LINE_NANOS = 10_000_000_000L;
  private static final long LINE_NANOS = 60_000_000_000L;
  private static final int WIDTH = 30;
  private static final String WIPE = "\r\u001b[K";

  private final Streams streams;
  private final String what;
  private final LongSupplier nanoTime;
  private final RemainingTime remaining = new RemainingTime();
  private final long start;
  private long lastDraw;
  private long nextLine;
  private boolean shown;

  public Progress(Streams streams, String what) {
    this(streams, what, System::nanoTime);
  }

  Progress(Streams streams, String what, LongSupplier nanoTime) {
    this.streams = streams;
    this.what = what;
    this.nanoTime = nanoTime;
    this.start = nanoTime.getAsLong();
    this.lastDraw = start - REDRAW_NANOS;
    this.nextLine = start + FIRST_LINE_NANOS;
  }

  /**
   * States the share of the work that an earlier run has done, which took no time of this one.
   *
   * @param share 0 to 1
   */
  public void resumeAt(double share) {
    remaining.note(nanoTime.getAsLong(), share);
  }

  /** Updates the progress of work with a known total. */
  public void update(double done, double inAll) {
    update(done, inAll, "");
  }

  /**
   * Updates the progress and a figure.
   *
   * @param figure shown after the bar
   */
  public void update(double done, double inAll, String figure) {
    double share = inAll > 0 ? Math.clamp(done / inAll, 0, 1) : 0;
    String behind = timeLeft(share) + (figure.isEmpty() ? "" : ", " + figure);
    if (streams.errIsTerminal()) {
      int filled = (int) (WIDTH * share);
      draw(
          "%s [%s%s] %d%%%s"
              .formatted(
                  what,
                  "=".repeat(filled),
                  " ".repeat(WIDTH - filled),
                  (int) (100 * share),
                  behind));
    } else {
      printLine("%s: %d%%%s".formatted(what, (int) (100 * share), behind));
    }
  }

  private void printLine(String line) {
    long now = nanoTime.getAsLong();
    if (now >= nextLine) {
      nextLine = now + LINE_NANOS;
      streams.err().println(line);
      streams.err().flush();
    }
  }

  /** Returns the remaining time, or nothing if it cannot be estimated. */
  private String timeLeft(double share) {
    remaining.note(nanoTime.getAsLong(), share);
    OptionalDouble seconds = remaining.seconds();
    return seconds.isEmpty() ? "" : ", %s left".formatted(Units.duration(seconds.getAsDouble()));
  }

  private void draw(String line) {
    long now = nanoTime.getAsLong();
    if (now - start < DELAY_NANOS || now - lastDraw < REDRAW_NANOS) {
      return;
    }
    lastDraw = now;
    shown = true;
    streams.err().print(WIPE + line);
    streams.err().flush();
  }

  @Override
  public void close() {
    if (shown) {
      streams.err().print(WIPE);
      streams.err().flush();
      shown = false;
    }
  }
}
