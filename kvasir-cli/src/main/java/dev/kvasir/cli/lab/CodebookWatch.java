package dev.kvasir.cli.lab;

import dev.kvasir.cli.terminal.Interruption;
import dev.kvasir.cli.terminal.Progress;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.codec.commvq.Codebook;
import dev.kvasir.lab.codebook.FinishedHeads;
import dev.kvasir.lab.codebook.TrainedHead;
import dev.kvasir.lab.codebook.TrainingListener;
import java.util.Locale;

/** Shows how the error of codebooks falls, stores those that are finished, and lets a user stop. */
final class CodebookWatch implements TrainingListener, AutoCloseable {
  private final Progress progress;
  private final FinishedHeads finished;
  private final Interruption interruption;

  CodebookWatch(Streams streams, FinishedHeads finished, Interruption interruption) {
    this.progress = new Progress(streams, "codebooks");
    this.finished = finished;
    this.interruption = interruption;
  }

  @Override
  public void progress(int done, int inAll, TrainedHead head, double error) {
    String figure =
        String.format(
            Locale.ROOT,
            "layer %d %s %d: %.3f left",
            head.layer(),
            head.side().name().toLowerCase(Locale.ROOT),
            head.kvHead(),
            error);
    progress.update(done, inAll, figure);
  }

  @Override
  public void finished(TrainedHead head, Codebook codebook) {
    finished.keep(head, codebook);
  }

  @Override
  public boolean stopped() {
    return interruption.asked();
  }

  @Override
  public void close() {
    progress.close();
  }
}
