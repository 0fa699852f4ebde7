package dev.kvasir.store.redis;

import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.DefaultJedisSocketFactory;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.SslOptions;

/**
 * One connection. One thread uses it, and any other may close it, which ends a pending read. A
 * socket timeout bounds only a single read; a server that sends a byte now and then would never
 * exceed it.
 */
final class RedisConnection implements AutoCloseable {
  private BoundedConnection connection;
  private volatile Socket socket;
  private volatile boolean isClosed;

  /** Connects, authenticates and selects the database. */
  void connect(RedisAddress address, SslOptions tls, Duration readTimeout) {
    JedisClientConfig settings = settings(address, tls, readTimeout);
    DefaultJedisSocketFactory sockets =
        new DefaultJedisSocketFactory(new HostAndPort(address.host(), address.port()), settings);
    connection = new BoundedConnection(() -> register(sockets.createSocket()), settings);
  }

  private Socket register(Socket opened) {
    socket = opened;
    if (isClosed) {
      close();
    }
    return opened;
  }

  private static JedisClientConfig settings(
      RedisAddress address, SslOptions tls, Duration readTimeout) {
    DefaultJedisClientConfig.Builder settings =
        DefaultJedisClientConfig.builder()
            .serverDefaultProtocol()
            .autoNegotiateProtocol(false)
            .clientSetInfoConfig(ClientSetInfoConfig.DISABLED)
            .timeoutMillis(Math.toIntExact(readTimeout.toMillis()))
            .database(address.database());
    address.user().ifPresent(settings::user);
    address.password().ifPresent(settings::password);
    if (address.isEncrypted()) {
      settings.sslOptions(tls);
    }
    return settings.build();
  }

  /** Returns the connection with a read timeout, after which the server has failed. */
  BoundedConnection connection(Duration readTimeout) {
    connection.setSoTimeout(Math.toIntExact(readTimeout.toMillis()));
    return connection;
  }

  @Override
  public void close() {
    isClosed = true;
    Socket opened = socket;
    if (opened != null) {
      try {
        opened.close();
      } catch (IOException e) {
        // It is unusable either way.
      }
    }
  }
}
