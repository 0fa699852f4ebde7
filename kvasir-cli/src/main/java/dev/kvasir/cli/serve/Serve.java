package dev.kvasir.cli.serve;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cli.arguments.DeviceArguments;
import dev.kvasir.cli.arguments.LoadArguments;
import dev.kvasir.cli.arguments.ModelArguments;
import dev.kvasir.cli.arguments.SpeculationArguments;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.cli.terminal.Termination;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedEncoder;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.server.KvasirServer;
import dev.kvasir.server.ServableModel;
import dev.kvasir.server.ServerOptions;
import dev.kvasir.server.watch.ServerLog;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Serves a model, or several, over HTTP. */
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
      "  kvasir serve --model model.gguf --kv kivi:4 --kv fp16 --kv-memory 8GiB",
      "  kvasir serve --models-dir models --memory 24GiB --kv kivi:4",
      "  kvasir serve --host 0.0.0.0 --api-key-file keys.txt",
      "  kvasir serve --kv kivi:2 --store kept,50GiB --store redis://10.0.0.7",
      "  curl http://127.0.0.1:8080/v1/completions -d '{\"prompt\": \"Once upon a time\"}'"
    })
public final class Serve implements Callable<Integer> {
  private static final Duration SIGNAL_INTERVAL = Duration.ofMillis(100);

  /** An encoder ignores them, so that a deployment need not know what its model is. */
  private static final List<String> CACHE_OPTIONS =
      List.of("--kv", "--kv-memory", "--store", "--context", "--answer-tokens");

  private static final List<String> GENERATION_OPTIONS =
      List.of("--tool-format", "--profile", "--model-context", "--lora", "--device", "--speculate");

  private final Streams streams;

  @Spec private CommandSpec command;
  @Mixin private ServedModelArguments models;
  @Mixin private ServiceArguments service;
  @Mixin private ServeArguments serve;
  @Mixin private LoadArguments load;
  @Mixin private DeviceArguments device;
  @Mixin private SpeculationArguments speculation;

  public Serve(Streams streams) {
    this.streams = streams;
  }

  private ModelLoading loading() {
    return new ModelLoading(service, load, device, speculation, streams);
  }

  @Override
  public Integer call() throws InterruptedException {
    CarrierThreads.raise();
    try (KeyReload keys =
        serve.hasKeys() ? KeyReload.install(serve::access, streams) : KeyReload.none()) {
      return serve(keys);
    }
  }

  private int serve(KeyReload keys) throws InterruptedException {
    if (models.isSeveral()) {
      return serveSeveral(keys);
    }
    ModelArguments model = models.single();
    return !model.isBundled() && LoadedEncoder.isAt(model.path())
        ? serveEncoder(model, keys)
        : serveOne(model, keys);
  }

  /** Serves a model that generates no text. */
  private int serveEncoder(ModelArguments model, KeyReload keys) throws InterruptedException {
    models.checkSingle();
    refuseOptions(model, GENERATION_OPTIONS);
    noteOptions(model, CACHE_OPTIONS);
    ServerOptions options = serve.addTo(service.options(List.of(CacheSpec.DEFAULT)));
    try (LoadedEncoder loaded = LoadedEncoder.load(model.path(), load.options());
        Termination termination = Termination.install();
        KvasirServer server = KvasirServer.start(loaded, options, new ServerLog(streams.err()))) {
      String kind = loaded.embedder().isPresent() ? "embeddings" : "scores";
      String what =
          "%s of %s at %s".formatted(kind, loaded.name(), address(options, server.port()));
      run(server, options, termination, keys, what);
    }
    return 0;
  }

  /** Rejects options that have no effect on an encoder. */
  private void refuseOptions(ModelArguments encoder, List<String> options) {
    for (String option : options) {
      if (command.commandLine().getParseResult().hasMatchedOption(option)) {
        throw new InvalidInputException(
            "%s is given, but %s is an encoder; expected a model that generates text"
                .formatted(option, encoder.path()));
      }
    }
  }

  private void noteOptions(ModelArguments encoder, List<String> options) {
    List<String> given =
        options.stream()
            .filter(option -> command.commandLine().getParseResult().hasMatchedOption(option))
            .toList();
    if (!given.isEmpty()) {
      streams.note(
          "%s: ignored, since %s is an encoder"
              .formatted(String.join(", ", given), encoder.path()));
    }
  }

  private int serveOne(ModelArguments model, KeyReload keys) throws InterruptedException {
    models.checkSingle();
    // Check the options before the model loads.
    ModelLoading loading = loading();
    List<CacheSpec> specs = loading.specs(model);
    ServerOptions options = serve.addTo(service.options(specs));
    EngineOptions engine = loading.checked(model, specs);
    try (LoadedModel loaded = model.load(engine, streams);
        Termination termination = Termination.install();
        KvasirServer server = KvasirServer.start(loaded, options, new ServerLog(streams.err()))) {
      loading.report(loaded, specs);
      String what =
          "%s at %s with KV cache %s in %s"
              .formatted(
                  loaded.config().name(),
                  address(options, server.port()),
                  specs.getFirst(),
                  Units.bytes(loaded.cacheMemory().limit()));
      run(server, options, termination, keys, what);
    }
    return 0;
  }

  private int serveSeveral(KeyReload keys) throws InterruptedException {
    checkSeveral();
    Map<String, ModelArguments> known = models.byName(streams);
    CacheKinds kinds = CacheKinds.of(service.typedSpecs(), known.keySet());
    ServerOptions options = serve.addTo(service.options(List.of(CacheSpec.DEFAULT)));
    loading().options(kinds.specs()); // to check them
    long memory = models.memoryBytes();
    try (Termination termination = Termination.install();
        KvasirServer server =
            KvasirServer.start(
                () -> onDemand(kinds),
                memory,
                models.defaultName(),
                options,
                new ServerLog(streams.err()))) {
      String what =
          "%d models at %s in %s, with %s of KV caches each"
              .formatted(
                  known.size(),
                  address(options, server.port()),
                  Units.bytes(memory),
                  Units.bytes(service.cacheBytes()));
      run(server, options, termination, keys, what);
    }
    return 0;
  }

  /** Rejects options that mean one model. */
  private void checkSeveral() {
    String wrong = null;
    if (load.profile().isPresent()) {
      wrong = "--profile";
    } else if (models.hasAdapters()) {
      wrong = "--lora";
    } else if (service.hasToolFormat()) {
      wrong = "--tool-format";
    } else if (speculation.hasDraftModel()) {
      wrong = "a draft model";
    }
    if (wrong != null) {
      throw new InvalidInputException("%s is of one model; expected one --model".formatted(wrong));
    }
  }

  private List<ServableModel> onDemand(CacheKinds kinds) {
    return models.byName(streams).entrySet().stream()
        .<ServableModel>map(
            each ->
                new ModelOnDemand(
                    each.getKey(), each.getValue(), kinds.of(each.getKey()), loading()))
        .toList();
  }

  private static String address(ServerOptions options, int port) {
    return "http://%s:%d/".formatted(options.host(), port);
  }

  private void run(
      KvasirServer server,
      ServerOptions options,
      Termination termination,
      KeyReload keys,
      String what)
      throws InterruptedException {
    streams.note("serving %s; Ctrl-C ends it".formatted(what));
    server
        .metricsPort()
        .ifPresent(port -> streams.note("metrics at " + address(options, port) + "metrics"));
    keys.startFor(server::setAccess);
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
