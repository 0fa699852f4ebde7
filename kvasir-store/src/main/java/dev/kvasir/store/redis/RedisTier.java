package dev.kvasir.store.redis;

import dev.kvasir.store.tier.BlobName;
import dev.kvasir.store.tier.BlobName.Kind;
import dev.kvasir.store.tier.BlobTier;
import dev.kvasir.store.tier.Deadline;
import dev.kvasir.store.tier.Failures;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.SslOptions;
import redis.clients.jedis.SslVerifyMode;

/**
 * A tier in Redis or Valkey, with one key for each blob such as {@code kvasir:1:block:ab12…}. Keys
 * expire unless they are used. A server that is down, slow or not Redis is a miss after {@link
 * #defaultReadTimeout} unless the caller sets a deadline. It is then suspended for a while ({@link
 * RedisConnectionPool}).
 */
public final class RedisTier implements BlobTier {
  /** A network of 1 Gbit/s, assumed before the first read. */
  private static final double INITIAL_BYTES_PER_SECOND = 100e6;

  /** The 1 is the version of the value format. */
  private static final String PREFIX = "kvasir:1:";

  /** Blobs requested ahead: enough to hide the latency, few enough for the server's buffers. */
  private static final int BLOB_PIPELINE_DEPTH = 8;

  private static final int REPLY_PIPELINE_DEPTH = 256;

  /** Requires a certificate for the host, issued by an authority that this JVM trusts. */
  static final SslOptions TRUSTED = SslOptions.builder().sslVerifyMode(SslVerifyMode.FULL).build();

  private static final byte[] EX = ascii("EX");

  private final RedisAddress address;
  private final RedisTimeouts timeouts;
  private final Failures failures;
  private final RedisConnectionPool pool;

  /**
   * Pings the server in the background, because a first connection, especially with TLS, may exceed
   * a read timeout.
   *
   * @param listener receives a sentence when the server fails
   */
  public RedisTier(RedisAddress address, Consumer<String> listener) {
    this(address, TRUSTED, RedisTimeouts.DEFAULT, listener);
    pool.ping();
  }

  RedisTier(
      RedisAddress address, SslOptions tls, RedisTimeouts timeouts, Consumer<String> listener) {
    this.address = address;
    this.timeouts = timeouts;
    this.failures = new Failures(listener);
    this.pool = new RedisConnectionPool(address, tls, timeouts, failures);
  }

  @Override
  public String name() {
    return address.toString();
  }

  @Override
  public TierType type() {
    return TierType.REDIS;
  }

  /** Returns what has arrived by the deadline, even if the rest has not. */
  @Override
  public Map<BlobName, byte[]> read(List<BlobName> names, Deadline deadline) {
    Map<BlobName, byte[]> arrived = new ConcurrentHashMap<>();
    pool.execute(
        deadline,
        timeouts.read(),
        (server, onReply) ->
            pipeline(
                names,
                BLOB_PIPELINE_DEPTH,
                name -> server.sendCommand(Command.GET, key(name)),
                name -> {
                  byte[] bytes = server.blob();
                  onReply.run();
                  if (bytes != null) {
                    arrived.put(name, bytes);
                  }
                }));
    Map<BlobName, byte[]> found = new LinkedHashMap<>();
    for (BlobName name : names) {
      Optional.ofNullable(arrived.get(name)).ifPresent(bytes -> found.put(name, bytes));
    }
    return found;
  }

  @Override
  public Set<BlobName> has(List<BlobName> names, Deadline deadline) {
    Set<BlobName> arrived = ConcurrentHashMap.newKeySet();
    pool.execute(
        deadline,
        timeouts.read(),
        (server, onReply) ->
            pipeline(
                names,
                REPLY_PIPELINE_DEPTH,
                name -> server.sendCommand(Command.EXISTS, key(name)),
                name -> {
                  long count = server.getIntegerReply();
                  onReply.run();
                  if (count == 1) {
                    arrived.add(name);
                  }
                }));
    Set<BlobName> found = new LinkedHashSet<>(names);
    found.retainAll(Set.copyOf(arrived));
    return found;
  }

  @Override
  public boolean write(BlobName name, byte[] bytes) {
    if (bytes.length > BoundedConnection.MAX_BYTES) {
      failures.add(
          "size",
          "the store %s takes blobs of up to %d bytes; one has %d"
              .formatted(address, BoundedConnection.MAX_BYTES, bytes.length));
      return false;
    }
    return pool.execute(
        Deadline.in(timeouts.write()),
        timeouts.writeReply(),
        (server, onReply) -> {
          if (name.kind() == Kind.RECORD || !refreshExpiry(server, name)) {
            server.sendCommand(Command.SET, key(name), bytes, EX, timeToLive());
            requireOk(server.getStatusCodeReply());
          }
        });
  }

  /** Renews the time to live; returns whether the blob exists. */
  private boolean refreshExpiry(Connection server, BlobName name) {
    server.sendCommand(Command.EXPIRE, key(name), timeToLive());
    return server.getIntegerReply() == 1;
  }

  private static void requireOk(String answer) {
    if (!"OK".equals(answer)) {
      throw new IllegalStateException("a write was answered by something else than OK");
    }
  }

  /** Appends atomically on the server. A list of names never reaches the size limit of a value. */
  @Override
  public boolean append(BlobName record, byte[] bytes) {
    return pool.execute(
        Deadline.in(timeouts.write()),
        timeouts.writeReply(),
        (server, onReply) -> {
          server.sendCommand(Command.APPEND, key(record), bytes);
          server.getIntegerReply();
          refreshExpiry(server, record);
        });
  }

  @Override
  public void touch(List<BlobName> names) {
    pool.execute(
        Deadline.in(timeouts.write()),
        timeouts.writeReply(),
        (server, onReply) ->
            pipeline(
                names,
                REPLY_PIPELINE_DEPTH,
                name -> server.sendCommand(Command.EXPIRE, key(name), timeToLive()),
                name -> server.getIntegerReply()));
  }

  @Override
  public void delete(BlobName name) {
    pool.execute(
        Deadline.in(timeouts.read()),
        timeouts.read(),
        (server, onReply) -> {
          server.sendCommand(Command.DEL, key(name));
          server.getIntegerReply();
        });
  }

  /** Sends commands ahead of the replies being read. */
  private static void pipeline(
      List<BlobName> names, int depth, Consumer<BlobName> send, Consumer<BlobName> receive) {
    int sent = 0;
    for (int received = 0; received < names.size(); received++) {
      for (; sent < Math.min(names.size(), received + depth); sent++) {
        send.accept(names.get(sent));
      }
      receive.accept(names.get(received));
    }
  }

  private static byte[] key(BlobName name) {
    return ascii(PREFIX + name.kind().word() + ":" + name.hex());
  }

  private byte[] timeToLive() {
    return ascii(Long.toString(address.timeToLive().toSeconds()));
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  @Override
  public Duration defaultReadTimeout() {
    return timeouts.read();
  }

  @Override
  public double initialBytesPerSecond() {
    return INITIAL_BYTES_PER_SECOND;
  }

  /** Unknown: the server would have to be asked about every key. */
  @Override
  public Optional<TierSize> size() {
    return Optional.empty();
  }

  @Override
  public long failures() {
    return failures.count();
  }

  @Override
  public void close() {
    pool.close();
  }
}
