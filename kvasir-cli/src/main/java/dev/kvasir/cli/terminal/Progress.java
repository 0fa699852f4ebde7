package dev.kvasir.cli.terminal;

import java.util.function.LongSupplier;

/**
 * Shows on standard error how far work has come that takes its time. On a terminal it is a bar, and
 * only after a second, so that quick work does not flicker; closing it wipes the line. Elsewhere,
 * in a log, it is a line now and then, the first of them as soon as the time left can be judged.
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

  /** Work of a known length. */
  public void update(double done, double inAll) {
    update(done, inAll, "");
  }

  /**
   * @param figure how well it goes, shown behind the bar
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

  /** Said only once there is something to judge by. */
  private String timeLeft(double share) {
    double seconds = (nanoTime.getAsLong() - start) / 1e9;
    if (seconds < 5 || share < 0.01) {
      return "";
    }
    return ", %s left".formatted(Units.duration(seconds / share - seconds));
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
