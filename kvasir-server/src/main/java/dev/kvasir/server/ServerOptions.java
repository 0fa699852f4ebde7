package dev.kvasir.server;

import dev.kvasir.ToolFormat;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.chat.ServingOptions;
import dev.kvasir.server.api.AccessRules;
import dev.kvasir.server.http.Endpoints;
import dev.kvasir.store.StoreAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The configuration of a server.
 *
 * @param host host name to listen on
 * @param port port to listen on; 0 for any free port
 * @param cacheSpecs cache specs that requests may select; the first one is the default
 * @param contextLimit tokens of a prompt and its completion, at most the model's own limit
 * @param defaultMaxTokens length of a completion whose request sets no limit
 * @param maxSequences sequences that run concurrently
 * @param maxQueued requests that wait for admission
 * @param maxBodyBytes limit on the size of a request body
 * @param timeout limit on the duration of a completion
 * @param access which clients are allowed
 * @param stores where conversations outlive memory; may be empty
 * @param metricsPort port for metrics and probes without a key; 0 for any free port, empty for none
 * @param toolFormat how the model writes tool calls; empty to recognise it from the chat template
 */
public record ServerOptions(
    String host,
    int port,
    List<CacheSpec> cacheSpecs,
    int contextLimit,
    int defaultMaxTokens,
    int maxSequences,
    int maxQueued,
    int maxBodyBytes,
    Duration timeout,
    AccessRules access,
    List<StoreAddress> stores,
    OptionalInt metricsPort,
    Optional<ToolFormat> toolFormat) {

  /**
   * Returns the defaults: loopback, FP16 cache, 64 sequences, 256 queued requests, ten minutes per
   * completion.
   */
  public static ServerOptions defaults() {
    ServingOptions serving = ServingOptions.defaults();
    return new ServerOptions(
        "127.0.0.1",
        8080,
        serving.cacheSpecs(),
        serving.contextLimit(),
        serving.defaultMaxTokens(),
        serving.maxSequences(),
        serving.maxQueued(),
        16 << 20,
        serving.timeout(),
        AccessRules.loopback(),
        List.of(),
        OptionalInt.empty(),
        serving.toolFormat());
  }

  Endpoints.Limits httpLimits() {
    return new Endpoints.Limits(access.listeningOn(host), maxBodyBytes, maxSequences);
  }

  ServingOptions serving() {
    return new ServingOptions(
        cacheSpecs, contextLimit, defaultMaxTokens, maxSequences, maxQueued, timeout, toolFormat);
  }

  public ServerOptions withAddress(String newHost, int newPort) {
    return new ServerOptions(
        newHost,
        newPort,
        cacheSpecs,
        contextLimit,
        defaultMaxTokens,
        maxSequences,
        maxQueued,
        maxBodyBytes,
        timeout,
        access,
        stores,
        metricsPort,
        toolFormat);
  }

  public ServerOptions withCacheSpecs(List<CacheSpec> value) {
    return new ServerOptions(
        host,
        port,
        List.copyOf(value),
        contextLimit,
        defaultMaxTokens,
        maxSequences,
        maxQueued,
        maxBodyBytes,
        timeout,
        access,
        stores,
        metricsPort,
        toolFormat);
  }

  public ServerOptions withLengths(int context, int maxTokens) {
    return new ServerOptions(
        host,
        port,
        cacheSpecs,
        context,
        maxTokens,
        maxSequences,
        maxQueued,
        maxBodyBytes,
        timeout,
        access,
        stores,
        metricsPort,
        toolFormat);
  }

  public ServerOptions withConcurrency(int sequences, int queued) {
    return new ServerOptions(
        host,
        port,
        cacheSpecs,
        contextLimit,
        defaultMaxTokens,
        sequences,
        queued,
        maxBodyBytes,
        timeout,
        access,
        stores,
        metricsPort,
        toolFormat);
  }

  public ServerOptions withLimits(int newMaxBodyBytes, Duration newTimeout) {
    return new ServerOptions(
        host,
        port,
        cacheSpecs,
        contextLimit,
        defaultMaxTokens,
        maxSequences,
        maxQueued,
        newMaxBodyBytes,
        newTimeout,
        access,
        stores,
        metricsPort,
        toolFormat);
  }

  public ServerOptions withAccess(AccessRules value) {
    return new ServerOptions(
        host,
        port,
        cacheSpecs,
        contextLimit,
        defaultMaxTokens,
        maxSequences,
        maxQueued,
        maxBodyBytes,
        timeout,
        value,
        stores,
        metricsPort,
        toolFormat);
  }

  /** Sets the stores, which are queried in this order, but folders before servers. */
  public ServerOptions withStores(List<StoreAddress> value) {
    return new ServerOptions(
        host,
        port,
        cacheSpecs,
        contextLimit,
        defaultMaxTokens,
        maxSequences,
        maxQueued,
        maxBodyBytes,
        timeout,
        access,
        List.copyOf(value),
        metricsPort,
        toolFormat);
  }

  /** Serves metrics and probes on a port of their own. */
  public ServerOptions withMetricsPort(int value) {
    return new ServerOptions(
        host,
        port,
        cacheSpecs,
        contextLimit,
        defaultMaxTokens,
        maxSequences,
        maxQueued,
        maxBodyBytes,
        timeout,
        access,
        stores,
        OptionalInt.of(value),
        toolFormat);
  }

  /** Sets how the model writes tool calls. */
  public ServerOptions withToolFormat(Optional<ToolFormat> value) {
    return new ServerOptions(
        host,
        port,
        cacheSpecs,
        contextLimit,
        defaultMaxTokens,
        maxSequences,
        maxQueued,
        maxBodyBytes,
        timeout,
        access,
        stores,
        metricsPort,
        value);
  }
}
