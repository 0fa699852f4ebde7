package dev.kvasir.store.redis;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import redis.clients.jedis.exceptions.JedisConnectionException;

/** Something that is asked of a server on a thread of its own, while the caller waits so long. */
final class RedisCall implements Runnable {
  /** What is said and heard; it may be said twice, where the first connection was dead already. */
  interface RedisExchange {
    /**
     * @param heard to be run at every answer
     */
    void run(BoundedConnection connection, Runnable onReply);
  }

  private final RedisConnectionPool pool;
  private final Duration readTimeout;
  private final RedisExchange exchange;
  private final CountDownLatch end = new CountDownLatch(1);
  private volatile boolean hasReply;
  private volatile Throwable failure;

  /** The link that the call is on, if any; guarded by this object, as is the next. */
  private RedisConnection connection;

  private boolean isAbandoned;

  /**
   * @param silence after which the server has failed
   */
  RedisCall(RedisConnectionPool pool, Duration readTimeout, RedisExchange exchange) {
    this.pool = pool;
    this.readTimeout = readTimeout;
    this.exchange = exchange;
  }

  /**
   * What goes wrong is kept for the caller; a length out of garbage may even ask for all memory.
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

  /** A connection that has waited may have been closed by the server, which is no failure. */
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

  /** Whether it has ended by then. */
  boolean await(long nanos) {
    try {
      return end.await(nanos, TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Nobody waits for it. */
  synchronized void abandon() {
    isAbandoned = true;
    if (connection != null) {
      connection.close();
    }
  }

  /** Whether the server has answered anything. */
  boolean hasReply() {
    return hasReply;
  }

  /** What went wrong, if anything did. */
  Optional<Throwable> failure() {
    return Optional.ofNullable(failure);
  }
}
