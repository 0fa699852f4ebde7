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
 * One connection. A thread talks on it, and any other may close it, which ends whatever the first
 * waits for: time-outs of sockets hold for a single read, and a server that sends a byte now and
 * then would keep within them for ever.
 */
final class RedisConnection implements AutoCloseable {
  private BoundedConnection connection;
  private volatile Socket socket;
  private volatile boolean isClosed;

  /** Connects, says who it is, and chooses the database. */
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

  /** Ready to talk, and a server that says nothing for so long has failed. */
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
        // It is of no use either way.
      }
    }
  }
}
