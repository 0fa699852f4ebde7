package dev.kvasir.store.redis;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import redis.clients.jedis.exceptions.JedisConnectionException;

/** A call to a server on its own thread, with a caller that waits for a limited time. */
final class RedisCall implements Runnable {
  /**
   * Commands and replies on a connection. It may run twice if the first connection was already
   * dead.
   */
  interface RedisExchange {
    /**
     * @param onReply to be run at every reply
     */
    void run(BoundedConnection connection, Runnable onReply);
  }

  private final RedisConnectionPool pool;
  private final Duration readTimeout;
  private final RedisExchange exchange;
  private final CountDownLatch end = new CountDownLatch(1);
  private volatile boolean hasReply;
  private volatile Throwable failure;

  /** The connection in use, if any; guarded by this object, like the next field. */
  private RedisConnection connection;

  private boolean isAbandoned;

  /**
   * @param readTimeout without any reply, after which the server has failed
   */
  RedisCall(RedisConnectionPool pool, Duration readTimeout, RedisExchange exchange) {
    this.pool = pool;
    this.readTimeout = readTimeout;
    this.exchange = exchange;
  }

  /**
   * Runs the call. Any failure is saved for the caller, even memory exhausted by a garbage length.
   */
  @Override
  public void run() {
    try {
      if (!runOnIdle()) {
        RedisConnection fresh = take(new RedisConnection());
        pool.connect(fresh, readTimeout);
        runOn(fresh);
      }
    } catch (Throwable e) {
      failure = e;
      abandon();
    } finally {
      end.countDown();
    }
  }

  /** Tries an idle connection. The server may have closed it, which is not a failure. */
  private boolean runOnIdle() {
    Optional<RedisConnection> idle = pool.pollIdle();
    if (idle.isEmpty()) {
      return false;
    }
    try {
      runOn(take(idle.get()));
      return true;
    } catch (JedisConnectionException e) {
      if (hasReply || RedisFailure.isTimeOut(e)) {
        throw e;
      }
      idle.get().close();
      return false;
    }
  }

  private synchronized RedisConnection take(RedisConnection taken) {
    connection = taken;
    if (isAbandoned) {
      taken.close();
    }
    return taken;
  }

  private void runOn(RedisConnection taken) {
    exchange.run(taken.connection(readTimeout), () -> hasReply = true);
    release(taken);
  }

  private synchronized void release(RedisConnection taken) {
    if (!isAbandoned) {
      connection = null;
      pool.release(taken);
    }
  }

  /** Returns whether the call ended within the time. */
  boolean await(long nanos) {
    try {
      return end.await(nanos, TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Closes the connection of a call that nobody waits for any more. */
  synchronized void abandon() {
    isAbandoned = true;
    if (connection != null) {
      connection.close();
    }
  }

  /** Returns whether the server has sent any reply. */
  boolean hasReply() {
    return hasReply;
  }

  /** Returns the failure, if any. */
  Optional<Throwable> failure() {
    return Optional.ofNullable(failure);
  }
}
