package dev.kvasir.cli.serve;

import dev.kvasir.ToolFormat;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cli.arguments.AutoCache;
import dev.kvasir.cli.arguments.MethodHelp;
import dev.kvasir.cli.arguments.ModelOutline;
import dev.kvasir.cli.arguments.TextArgument;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.error.OptionValue;
import dev.kvasir.memory.ByteCount;
import dev.kvasir.profile.Profile;
import dev.kvasir.server.ServerOptions;
import dev.kvasir.server.api.AccessRules;
import dev.kvasir.store.StoreAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import picocli.CommandLine.Option;

/** The options of a server. */
final class ServeArguments {
  private static final int MIN_KEY_LENGTH = 8;

  @Option(
      names = "--kv",
      paramLabel = "SPEC",
      description =
          MethodHelp.SPEC_OR_AUTO
              + " Repeat the option to let requests choose; the first cache is the default. Default: fp16.")
  private List<String> cacheSpecs = new ArrayList<>();

  @Option(
      names = "--kv-memory",
      paramLabel = "SIZE",
      defaultValue = "2GiB",
      description =
          "What the caches of all conversations may take together. Default: ${DEFAULT-VALUE}.")
  private String memory;

  @Option(
      names = "--store",
      paramLabel = "PLACE",
      description =
          "Keep prefixes of conversations beyond this process, in a folder (DIR or"
              + " DIR,50GiB) or in Redis (redis://HOST:PORT). May be repeated; folders are"
              + " searched before servers. Default: no store.")
  private List<String> stores = new ArrayList<>();

  @Option(
      names = "--port",
      paramLabel = "N",
      defaultValue = "8080",
      description = "Port to listen on; 0 for any free port. Default: ${DEFAULT-VALUE}.")
  private int port;

  @Option(
      names = "--host",
      paramLabel = "ADDRESS",
      defaultValue = "127.0.0.1",
      description =
          "Address to listen on. An address that other machines can reach needs"
              + " --api-key-file or --insecure. Default: ${DEFAULT-VALUE}.")
  private String host;

  @Option(
      names = "--api-key-file",
      paramLabel = "FILE",
      description =
          "File with the accepted API keys, one per line. Lines that begin with # are"
              + " ignored.")
  private Path keyFile;

  @Option(
      names = "--insecure",
      description = "Accept requests without a key from everyone who can reach --host.")
  private boolean insecure;

  @Option(
      names = "--allow-origin",
      paramLabel = "ORIGIN",
      description =
          "Accept requests from pages of this origin, as in https://example.org. May be"
              + " repeated.")
  private List<String> origins = new ArrayList<>();

  @Option(
      names = "--allow-host",
      paramLabel = "NAME",
      description =
          "Accept requests that were sent to this host name, such as the one of a proxy. May be"
              + " repeated. Without keys, a server on the loopback interface accepts addresses and"
              + " localhost only.")
  private List<String> hosts = new ArrayList<>();

  @Option(
      names = "--context",
      paramLabel = "N",
      description = "Maximum tokens of a prompt and its answer. Default: the model's context.")
  private Integer context;

  @Option(
      names = "--answer-tokens",
      paramLabel = "N",
      defaultValue = "2048",
      description =
          "Maximum tokens of an answer whose request sets no limit. Memory is reserved"
              + " for them. Default: ${DEFAULT-VALUE}.")
  private int answerTokens;

  @Option(
      names = "--max-sequences",
      paramLabel = "N",
      defaultValue = "64",
      description =
          "Maximum number of answers that are generated at once. Default:" + " ${DEFAULT-VALUE}.")
  private int sequences;

  @Option(
      names = "--max-waiting",
      paramLabel = "N",
      defaultValue = "256",
      description =
          "Maximum number of queued requests. Further ones are refused and may be sent"
              + " again. Default: ${DEFAULT-VALUE}.")
  private int waiting;

  @Option(
      names = "--max-body",
      paramLabel = "SIZE",
      defaultValue = "16MiB",
      description = "Maximum size of a request. Default: ${DEFAULT-VALUE}.")
  private String body;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      defaultValue = "600",
      description = "Seconds after which an answer is cut off. Default: ${DEFAULT-VALUE}.")
  private int timeout;

  @Option(
      names = "--tool-format",
      paramLabel = "FORMAT",
      description =
          "How the model writes tool calls, as in hermes, llama3, mistral or harmony;"
              + " docs/server.md lists all. Default: recognised from the chat template.")
  private String toolFormat;

  @Option(
      names = "--metrics-port",
      paramLabel = "N",
      description =
          "Also serve /metrics, /livez, /readyz and /health on this port of --host, without a key."
              + " Default: only on --port, where /metrics needs a key if there are any.")
  private Integer metricsPort;

  @Option(
      names = "--drain",
      paramLabel = "SECONDS",
      defaultValue = "0",
      description =
          "After SIGTERM or Ctrl-C, refuse new requests and let the others end for up to this"
              + " long; a second signal ends them. Default: ${DEFAULT-VALUE}.")
  private int drain;

  Duration drain() {
    return Duration.ofSeconds(OptionValue.atLeast("--drain", drain, 0));
  }

  long cacheBytes() {
    return ByteCount.parse("--kv-memory", memory);
  }

  /**
   * @param auto the cache that auto stands for
   */
  ServerOptions options(Supplier<CacheSpec> auto) {
    cacheBytes();
    long bodyBytes = ByteCount.parse("--max-body", body);
    if (bodyBytes > Integer.MAX_VALUE / 2) {
      throw new InvalidInputException("--max-body is %s; expected at most 1GiB".formatted(body));
    }
    List<CacheSpec> specs =
        cacheSpecs.isEmpty()
            ? List.of(CacheSpec.DEFAULT)
            : cacheSpecs.stream()
                .distinct()
                .map(spec -> AutoCache.isAuto(spec) ? auto.get() : CacheSpec.parse(spec))
                .distinct()
                .toList();
    drain();
    ServerOptions options = options(specs, (int) bodyBytes);
    return metricsPort == null
        ? options
        : options.withMetricsPort(OptionValue.between("--metrics-port", metricsPort, 0, 65535));
  }

  private ServerOptions options(List<CacheSpec> specs, int bodyBytes) {
    return ServerOptions.defaults()
        .withAddress(host, OptionValue.between("--port", port, 0, 65535))
        .withCacheSpecs(specs)
        .withLengths(
            context == null ? Integer.MAX_VALUE : OptionValue.atLeast("--context", context, 2),
            OptionValue.atLeastOne("--answer-tokens", answerTokens))
        .withConcurrency(
            OptionValue.between("--max-sequences", sequences, 1, 4096),
            OptionValue.between("--max-waiting", waiting, 0, 100_000))
        .withLimits(bodyBytes, Duration.ofSeconds(OptionValue.atLeastOne("--timeout", timeout)))
        .withAccess(access())
        .withStores(stores())
        .withToolFormat(Optional.ofNullable(toolFormat).map(ServeArguments::toolFormat));
  }

  private static ToolFormat toolFormat(String label) {
    try {
      return ToolFormat.parse(label);
    } catch (IllegalArgumentException e) {
      throw new InvalidInputException("--tool-format: " + e.getMessage());
    }
  }

  /** Returns the tokens of the longest conversation. */
  int tokens(ModelOutline outline) {
    return context == null
        ? outline.config().contextLength()
        : outline.requireContext("--context", OptionValue.atLeast("--context", context, 2));
  }

  /**
   * Rejects options that do not fit the model, before its weights are loaded.
   *
   * @param profile the calibration profile of the model
   */
  void check(ModelOutline outline, ServerOptions options, Optional<Profile> profile) {
    outline.requireProfile(profile);
    int limit = tokens(outline);
    options.cacheSpecs().forEach(spec -> outline.requireCache(spec, profile, limit));
    requireMemory(outline, options.cacheSpecs().getFirst(), profile, limit);
  }

  /** Rejects memory that does not hold one answer to a request that sets no bound. */
  private void requireMemory(
      ModelOutline outline, CacheSpec spec, Optional<Profile> profile, int limit) {
    int tokens = Math.min(limit, answerTokens + 1);
    long least = outline.sequenceBytes(spec, profile, tokens);
    if (least > cacheBytes()) {
      throw new InvalidInputException(
          "--kv-memory is %s; expected at least %s, which an answer of %d tokens may take with '%s'"
              .formatted(memory, Units.typedBytes(least), tokens - 1, spec));
    }
  }

  private List<StoreAddress> stores() {
    List<StoreAddress> places = stores.stream().map(StoreAddress::parse).toList();
    places.forEach(StoreAddress::check);
    return places;
  }

  private AccessRules access() {
    List<String> keys = keyFile == null ? List.of() : keys(keyFile);
    if (keys.isEmpty() && !insecure && !AccessRules.isLoopback(host)) {
      throw new InvalidInputException(
          "--host %s lets other machines ask; expected --api-key-file FILE, or --insecure"
              .formatted(host));
    }
    return AccessRules.of(keys, Set.copyOf(origins)).withHosts(Set.copyOf(hosts));
  }

  private static List<String> keys(Path file) {
    List<String> keys =
        TextArgument.readFile(file)
            .lines()
            .map(String::strip)
            .filter(line -> !line.isEmpty() && !line.startsWith("#"))
            .toList();
    if (keys.isEmpty()) {
      throw new InvalidInputException("%s: holds no key; expected one a line".formatted(file));
    }
    for (String key : keys) {
      if (key.length() < MIN_KEY_LENGTH) {
        throw new InvalidInputException(
            "%s: a key has %d characters; expected at least %d"
                .formatted(file, key.length(), MIN_KEY_LENGTH));
      }
    }
    return keys;
  }
}
