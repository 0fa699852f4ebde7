package dev.kvasir.cli.arguments;

import dev.kvasir.cli.terminal.MachineMemory;
import dev.kvasir.cli.terminal.Progress;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.hub.HubListener;
import java.util.OptionalLong;

/** Shows a download on standard error: what it takes, how far it is, and the time left. */
public final class DownloadReporter implements HubListener, AutoCloseable {
  private final Streams streams;
  private Progress progress;

  public DownloadReporter(Streams streams) {
    this.streams = streams;
  }

  @Override
  public void planned(Plan plan) {
    if (plan.missingBytes() > 0) {
      streams.note(sentence(plan, MachineMemory.total()));
    }
  }

  static String sentence(Plan plan, OptionalLong memory) {
    String weights =
        "%s: %s to download; its weights take about %s of memory"
            .formatted(
                plan.name(), Units.bytes(plan.missingBytes()), Units.bytes(plan.weightBytes()));
    if (memory.isEmpty()) {
      return weights;
    }
    String machine = Units.bytes(memory.getAsLong());
    return plan.weightBytes() > memory.getAsLong()
        ? "%s, more than the %s of this machine".formatted(weights, machine)
        : "%s, and this machine has %s".formatted(weights, machine);
  }

  @Override
  public void downloaded(long done, long total) {
    if (progress == null) {
      progress = new Progress(streams, "downloading");
      progress.resumeAt(total == 0 ? 0 : (double) done / total);
    }
    progress.update(done, total, "%s of %s".formatted(Units.bytes(done), Units.bytes(total)));
  }

  @Override
  public void note(String sentence) {
    close();
    streams.note(sentence);
  }

  @Override
  public void close() {
    if (progress != null) {
      progress.close();
    }
  }
}
