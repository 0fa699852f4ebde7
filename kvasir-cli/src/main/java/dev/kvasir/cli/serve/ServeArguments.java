package dev.kvasir.cli.serve;

import dev.kvasir.cli.arguments.TextArgument;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.error.OptionValue;
import dev.kvasir.memory.ByteCount;
import dev.kvasir.server.ServerOptions;
import dev.kvasir.server.api.AccessRules;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Option;

/** The options of an HTTP server. */
final class ServeArguments {
  private static final int MIN_KEY_LENGTH = 8;

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
              + " ignored. SIGHUP reads it again.")
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

  /** Adds these options to those of a service. */
  ServerOptions addTo(ServerOptions options) {
    long bodyBytes = ByteCount.parse("--max-body", body);
    if (bodyBytes > Integer.MAX_VALUE / 2) {
      throw new InvalidInputException("--max-body is %s; expected at most 1GiB".formatted(body));
    }
    drain();
    ServerOptions added =
        options
            .withAddress(host, OptionValue.between("--port", port, 0, 65535))
            .withConcurrency(
                options.maxSequences(), OptionValue.between("--max-waiting", waiting, 0, 100_000))
            .withLimits(
                (int) bodyBytes, Duration.ofSeconds(OptionValue.atLeastOne("--timeout", timeout)))
            .withAccess(access());
    return metricsPort == null
        ? added
        : added.withMetricsPort(OptionValue.between("--metrics-port", metricsPort, 0, 65535));
  }

  boolean hasKeys() {
    return keyFile != null;
  }

  /**
   * Reads the keys.
   *
   * @throws InvalidInputException if the file cannot be read or has none
   */
  AccessRules access() {
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
