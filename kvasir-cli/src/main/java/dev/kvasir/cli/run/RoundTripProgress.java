package dev.kvasir.cli.run;

import dev.kvasir.cli.terminal.Progress;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.lab.roundtrip.RoundTripListener;
import java.util.function.BooleanSupplier;

/** Shows the progress of a round trip, one bar for each phase. */
final class RoundTripProgress implements RoundTripListener, AutoCloseable {
  private final Progress feeding;
  private final Progress attending;
  private final BooleanSupplier interrupted;

  RoundTripProgress(Streams streams, BooleanSupplier interrupted) {
    this.feeding = new Progress(streams, "feeding the cache");
    this.attending = new Progress(streams, "attending");
    this.interrupted = interrupted;
  }

  @Override
  public void fed(int tokensDone, int tokensInAll) {
    feeding.update(tokensDone, tokensInAll);
  }

  @Override
  public void attended(int queriesDone, int queriesInAll) {
    attending.update(queriesDone, queriesInAll);
  }

  @Override
  public boolean isCancelled() {
    return interrupted.getAsBoolean();
  }

  @Override
  public void close() {
    feeding.close();
    attending.close();
  }
}
