package dev.kvasir.cli.batch;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cli.arguments.DeviceArguments;
import dev.kvasir.cli.arguments.LoadArguments;
import dev.kvasir.cli.arguments.ModelArguments;
import dev.kvasir.cli.arguments.SpeculationArguments;
import dev.kvasir.cli.serve.ModelLoading;
import dev.kvasir.cli.serve.ServiceArguments;
import dev.kvasir.cli.terminal.Interruption;
import dev.kvasir.cli.terminal.Progress;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.server.OfflineServer;
import dev.kvasir.server.ServerOptions;
import dev.kvasir.server.watch.ServerLog;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Runs a file of requests without a server. */
@Command(
    name = "batch",
    description = {
      "Run the requests of a file in OpenAI's batch format, and write the responses.",
      "Requests share batches and cached prefixes, as in 'kvasir serve'. A request that fails gets"
          + " a line with its error. The same command continues a run that was interrupted: lines"
          + " that OUT has are skipped."
    },
    footer = {
      "  kvasir batch requests.jsonl responses.jsonl --kv kivi:2",
      "  echo '{\"custom_id\": \"1\", \"method\": \"POST\", \"url\": \"/v1/completions\","
          + " \"body\": {\"prompt\": \"Once\"}}' > requests.jsonl"
    })
public final class Batch implements Callable<Integer> {
  /** Requests wait for each other here, so none is late. */
  private static final Duration NO_TIMEOUT = Duration.ofDays(10_000);

  private final Streams streams;

  @Parameters(
      index = "0",
      paramLabel = "IN",
      description = "Requests, one a line: custom_id, method, url, body.")
  private Path input;

  @Parameters(
      index = "1",
      paramLabel = "OUT",
      description =
          "Responses, one a line as soon as each is complete: id, custom_id, response, error.")
  private Path output;

  @Mixin private ModelArguments model;
  @Mixin private ServiceArguments service;
  @Mixin private LoadArguments load;
  @Mixin private DeviceArguments device;
  @Mixin private SpeculationArguments speculation;

  public Batch(Streams streams) {
    this.streams = streams;
  }

  @Override
  public Integer call() throws InterruptedException {
    long lines = BatchRun.count(input);
    if (input.toAbsolutePath().normalize().equals(output.toAbsolutePath().normalize())) {
      throw new InvalidInputException("IN and OUT are %s; expected two files".formatted(input));
    }
    ModelLoading loading = new ModelLoading(service, load, device, speculation, streams);
    List<CacheSpec> specs = loading.specs(model);
    ServerOptions defaults = service.options(specs);
    ServerOptions options =
        defaults
            .withConcurrency(defaults.maxSequences(), defaults.maxSequences())
            .withLimits(Integer.MAX_VALUE / 2, NO_TIMEOUT);
    EngineOptions engine = loading.checked(model, specs);
    try (BatchOutput out = new BatchOutput(output);
        LoadedModel loaded = model.load(engine, streams);
        Interruption interruption = Interruption.install();
        OfflineServer server = new OfflineServer(loaded, options, new ServerLog(streams.err()))) {
      loading.report(loaded, specs);
      BatchRun run =
          new BatchRun(input, out, server::post, options.maxSequences(), interruption::isRequested);
      BatchRun.Summary summary = run(run, lines);
      report(summary, interruption.isRequested());
      return interruption.isRequested() ? Interruption.EXIT_CODE : 0;
    }
  }

  private BatchRun.Summary run(BatchRun run, long lines) throws InterruptedException {
    try (Progress progress = new Progress(streams, "batch")) {
      return run.run(
          (done, skipped) -> {
            progress.resumeAt((double) skipped / lines);
            progress.update(done + skipped, lines, "%d of %d".formatted(done + skipped, lines));
          });
    }
  }

  private void report(BatchRun.Summary summary, boolean isInterrupted) {
    streams.note(
        "%s: %d lines written, %d of them errors, %d skipped%s"
            .formatted(
                output,
                summary.done(),
                summary.failed(),
                summary.skipped(),
                isInterrupted ? "; the same command continues" : ""));
  }
}
