package dev.kvasir.server;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.server.api.AccessRules;
import dev.kvasir.store.StoreAddress;
import java.time.Duration;
import java.util.List;

/**
 * How a server serves.
 *
 * @param host that it listens at
 * @param port that it listens at; 0 for any that is free
 * @param kinds of cache that requests may ask for; the first one serves who asks for none
 * @param contextLimit tokens of a prompt and its answer, at most the model's own limit
 * @param answerTokens of an answer whose request sets no bound
 * @param mostSequences that run at once
 * @param mostWaiting requests that wait for a place
 * @param bodyBytes of a request at the most
 * @param timeout after which an answer is broken off
 * @param access who may ask
 * @param stores where conversations are kept beyond memory; empty for nowhere
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
    List<StoreAddress> stores) {

  /** Loopback, half precision, 64 sequences, 256 requests that wait, ten minutes an answer. */
  public static ServerOptions defaults() {
    return new ServerOptions(
        "127.0.0.1",
        8080,
        List.of(CacheSpec.DEFAULT),
        Integer.MAX_VALUE,
        2048,
        64,
        256,
        16 << 20,
        Duration.ofMinutes(10),
        AccessRules.loopback(),
        List.of());
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
        stores);
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
        stores);
  }

  public ServerOptions withLengths(int context, int answer) {
    return new ServerOptions(
        host,
        port,
        cacheSpecs,
        context,
        answer,
        maxSequences,
        maxQueued,
        maxBodyBytes,
        timeout,
        access,
        stores);
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
        stores);
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
        stores);
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
        stores);
  }

  /** Places that are asked in their order, but folders before servers. */
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
        List.copyOf(value));
  }
}
