package dev.kvasir.cli.lab;

import dev.kvasir.cli.terminal.Interruption;
import dev.kvasir.cli.terminal.Progress;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.lab.ProgressListener;

/** Shows the progress of lab work and lets the user interrupt it. */
final class ProgressReporter implements ProgressListener, AutoCloseable {
  private final Progress progress;
  private final Interruption interruption;
  private String doing = "";

  ProgressReporter(Streams streams, String what, Interruption interruption) {
    this.progress = new Progress(streams, what);
    this.interruption = interruption;
  }

  @Override
  public void progress(double done, double inAll) {
    progress.update(done, inAll, doing);
  }

  @Override
  public void status(String what) {
    doing = what;
  }

  @Override
  public boolean isCancelled() {
    return interruption.isRequested();
  }

  @Override
  public void close() {
    progress.close();
  }
}
