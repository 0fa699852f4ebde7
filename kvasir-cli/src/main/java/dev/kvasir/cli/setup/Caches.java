package dev.kvasir.cli.setup;

import dev.kvasir.cli.arguments.MethodHelp;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.codec.MethodRegistry;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** Lists the KV caches that {@code --kv} accepts. */
@Command(
    name = "caches",
    description = {
      "List the KV caches that --kv accepts, with their keys.",
      "kivi needs no calibration. mead, commvq, vqllm and oscar need a profile, which 'kvasir"
          + " calibrate' writes. 'kvasir inspect --kv auto' shows which ones fit a model."
    },
    footer = {"  kvasir caches", "  kvasir inspect --kv auto --context 16384 --kv-memory 16MiB"})
public final class Caches implements Callable<Integer> {
  private final Streams streams;

  public Caches(Streams streams) {
    this.streams = streams;
  }

  @Override
  public Integer call() {
    streams.out().println(MethodHelp.all(MethodRegistry.all()));
    streams.out().flush();
    return 0;
  }
}
