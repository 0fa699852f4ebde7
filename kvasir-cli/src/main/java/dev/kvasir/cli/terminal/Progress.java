package dev.kvasir.cli.terminal;

/**
 * A bar on standard error for work that takes its time. It shows only on a terminal, and only after
 * a second, so that quick work does not flicker; closing it wipes the line.
 */
public final class Progress implements AutoCloseable {
  private static final long PATIENCE_NANOS = 1_000_000_000L;
  private static final long REDRAW_NANOS = 100_000_000L;
  private static final int WIDTH = 30;
  private static final String WIPE = "\r\u001b[K";

  private final Streams streams;
  private final String what;
  private final long start = System.nanoTime();
  private long lastDraw = start - REDRAW_NANOS;
  private boolean shown;

  public Progress(Streams streams, String what) {
    this.streams = streams;
    this.what = what;
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
    int filled = (int) (WIDTH * share);
    draw(
        "%s [%s%s] %d%%%s%s"
            .formatted(
                what,
                "=".repeat(filled),
                " ".repeat(WIDTH - filled),
                (int) (100 * share),
                timeLeft(share),
                figure.isEmpty() ? "" : ", " + figure));
  }

  /** Said only once there is something to judge by. */
  private String timeLeft(double share) {
    double seconds = (System.nanoTime() - start) / 1e9;
    if (seconds < 5 || share < 0.01) {
      return "";
    }
    return ", %s left".formatted(Units.duration(seconds / share - seconds));
  }

  private void draw(String line) {
    long now = System.nanoTime();
    if (!streams.errIsTerminal() || now - start < PATIENCE_NANOS || now - lastDraw < REDRAW_NANOS) {
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
