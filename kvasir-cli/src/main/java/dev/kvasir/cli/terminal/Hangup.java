package dev.kvasir.cli.terminal;

import org.jline.utils.Signals;

/** Runs an action at each SIGHUP until it is closed. Systems without that signal have none. */
public final class Hangup implements AutoCloseable {
  private static final String NAME = "HUP";

  private final Runnable restore;

  private Hangup(Runnable restore) {
    this.restore = restore;
  }

  public static Hangup install(Runnable action) {
    Object before = Signals.register(NAME, action);
    return new Hangup(() -> Signals.unregister(NAME, before));
  }

  /** Leaves the signal its usual effect, which ends the process. */
  public static Hangup none() {
    return new Hangup(() -> {});
  }

  @Override
  public void close() {
    restore.run();
  }
}
