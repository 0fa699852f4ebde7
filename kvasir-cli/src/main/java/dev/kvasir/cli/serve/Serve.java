package dev.kvasir.cli.serve;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.choice.CacheChoice;
import dev.kvasir.cli.arguments.AutoCache;
import dev.kvasir.cli.arguments.DeviceArguments;
import dev.kvasir.cli.arguments.LoadArguments;
import dev.kvasir.cli.arguments.ModelArguments;
import dev.kvasir.cli.arguments.ModelOutline;
import dev.kvasir.cli.arguments.SpeculationArguments;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.cli.terminal.Termination;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.profile.Profile;
import dev.kvasir.runtime.DeviceChoice;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedEncoder;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.server.KvasirServer;
import dev.kvasir.server.ServerOptions;
import dev.kvasir.server.watch.ServerLog;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Serves a model over HTTP. */
@Command(
    name = "serve",
    description = {
      "Serve a model over an OpenAI-compatible API, with a chat page for browsers.",
      "All conversations share one KV-cache budget (--kv-memory); requests that do"
          + " not fit are queued. Ctrl-C or SIGTERM ends all answers; the server then writes"
          + " what --store does not have yet, for at most ten seconds."
    },
    footer = {
      "  kvasir serve --kv auto",
      "  kvasir serve --model models/some-model.gguf --kv kivi:4 --kv fp16 --kv-memory 8GiB",
      "  kvasir serve --host 0.0.0.0 --api-key-file keys.txt",
      "  kvasir serve --kv kivi:2 --store /var/lib/kvasir,50GiB --store redis://10.0.0.7",
      "  curl http://127.0.0.1:8080/v1/completions -d '{\"prompt\": \"Once upon a time\"}'"
    })
public final class Serve implements Callable<Integer> {
  private static final Duration SIGNAL_INTERVAL = Duration.ofMillis(100);

  private final Streams streams;

  @Mixin private ModelArguments model;
  @Mixin private ServeArguments serve;
  @Mixin private LoadArguments load;
  @Mixin private DeviceArguments device;
  @Mixin private SpeculationArguments speculation;

  public Serve(Streams streams) {
    this.streams = streams;
  }

  private CacheSpec chooseCache() {
    ModelOutline outline = model.outline(load);
    Optional<Profile> given = load.profile().map(Profile::open);
    outline.requireProfile(given);
    CacheChoice choice =
        new AutoCache(
                outline,
                given.or(() -> model.profile(null)),
                device.supportedCaches(model, outline))
            .choose(serve.tokens(outline), OptionalLong.of(serve.cacheBytes()));
    AutoCache.report(choice, streams);
    return choice.spec();
  }

  @Override
  public Integer call() throws InterruptedException {
    return !model.isBundled() && LoadedEncoder.isAt(model.path()) ? serveEncoder() : serveText();
  }

  /** Serves a model that generates no text. The options of caches do not concern it. */
  private int serveEncoder() throws InterruptedException {
    ServerOptions options = serve.options(() -> CacheSpec.DEFAULT);
    try (LoadedEncoder loaded = LoadedEncoder.load(model.path(), load.options());
        Termination termination = Termination.install();
        KvasirServer server = KvasirServer.start(loaded, options, new ServerLog(streams.err()))) {
      streams.note(
          "serving %s of %s at http://%s:%d/; Ctrl-C ends it"
              .formatted(
                  loaded.embedder().isPresent() ? "embeddings" : "scores",
                  loaded.name(),
                  options.host(),
                  server.port()));
      end(server, termination);
    }
    return 0;
  }

  private int serveText() throws InterruptedException {
    // Check the options before the model loads.
    ServerOptions options = serve.options(this::chooseCache);
    DeviceChoice choice =
        options.stores().isEmpty()
            ? device.choice(options.cacheSpecs())
            : device.choiceWithStorage("--store");
    EngineOptions loading =
        speculation.addTo(load.options().withCacheBytes(serve.cacheBytes()).withDevice(choice));
    serve.check(model.outline(load), options, loading.profile().or(() -> model.profile(null)));
    try (LoadedModel loaded = model.load(loading, streams);
        Termination termination = Termination.install();
        KvasirServer server = KvasirServer.start(loaded, options, new ServerLog(streams.err()))) {
      device.report(loaded, streams);
      options.cacheSpecs().forEach(spec -> loaded.warning(spec).ifPresent(streams::note));
      streams.note(
          "serving %s at http://%s:%d/ with KV cache %s in %s; Ctrl-C ends it"
              .formatted(
                  loaded.config().name(),
                  options.host(),
                  server.port(),
                  options.cacheSpecs().getFirst(),
                  Units.bytes(loaded.cacheMemory().limit())));
      server
          .metricsPort()
          .ifPresent(
              port ->
                  streams.note("metrics at http://%s:%d/metrics".formatted(options.host(), port)));
      end(server, termination);
    }
    return 0;
  }

  private void end(KvasirServer server, Termination termination) throws InterruptedException {
    termination.await();
    drain(server, termination);
    streams.note("ending all answers");
  }

  private void drain(KvasirServer server, Termination termination) throws InterruptedException {
    long end = System.nanoTime() + serve.drain().toNanos();
    server.drain();
    if (!server.awaitIdle(Duration.ZERO) && !serve.drain().isZero()) {
      streams.note("waiting up to %d s for running answers".formatted(serve.drain().toSeconds()));
    }
    while (System.nanoTime() < end
        && !termination.isRepeated()
        && !server.awaitIdle(SIGNAL_INTERVAL)) {
      // A second signal is seen at the next interval.
    }
  }
}
