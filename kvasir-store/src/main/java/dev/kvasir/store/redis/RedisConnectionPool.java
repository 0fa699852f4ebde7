package dev.kvasir.store.redis;

import dev.kvasir.store.tier.Deadline;
import dev.kvasir.store.tier.Failures;
import java.time.Duration;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import redis.clients.jedis.Connection;
import redis.clients.jedis.SslOptions;

/**
 * All that is asked of a server. A caller waits until its deadline and no longer, whatever the
 * server, the network or the name service do: the asking is done by another thread, whose
 * connection is closed when the caller has gone. A server that has failed is left alone; whether it
 * is back is found out by a greeting for which nobody waits, and which may take longer than a
 * caller would.
 */
final class RedisConnectionPool implements AutoCloseable {
  /** Connections at a time; calls beyond wait for one, until their deadline. */
  private static final int MAX_CONNECTIONS = 8;

  /** With less time left than this a server is not asked, and cannot be blamed. */
  private static final long MIN_NANOS = Duration.ofMillis(5).toNanos();

  private static final String TIMED_OUT = "it did not answer in time";

  private final RedisAddress address;
  private final SslOptions tls;
  private final RedisTimeouts timeouts;
  private final Failures failures;
  private final CircuitBreaker breaker;
  private final Semaphore permits = new Semaphore(MAX_CONNECTIONS, true);
  private final Deque<RedisConnection> idle = new ConcurrentLinkedDeque<>();
  private final ExecutorService threads =
      Executors.newCachedThreadPool(
          Thread.ofPlatform().daemon().name("kvasir-redis-", 0).factory());
  private volatile boolean isClosed;

  RedisConnectionPool(
      RedisAddress address, SslOptions tls, RedisTimeouts timeouts, Failures failures) {
    this.address = address;
    this.tls = tls;
    this.timeouts = timeouts;
    this.failures = failures;
    this.breaker = new CircuitBreaker(timeouts.retryAfter(), System::nanoTime);
  }

  /**
   * Asks, unless the server is being left alone.
   *
   * @param silence after which the server has failed, however far the deadline
   * @return whether all was said and heard in time; if not, some of it may have been
   */
  boolean execute(Deadline deadline, Duration readTimeout, RedisCall.RedisExchange exchange) {
    if (breaker.isOpen()) {
      if (breaker.mayProbe()) {
        ping();
      }
      return false;
    }
    return executeNow(deadline, readTimeout, exchange);
  }

  /** Finds out whether the server is there, and leaves a connection for others. */
  void ping() {
    trySubmit(
        () ->
            executeNow(
                Deadline.in(timeouts.write()),
                timeouts.writeReply(),
                (server, onReply) -> requirePong(server)));
  }

  private static void requirePong(Connection server) {
    if (!server.ping()) {
      throw new IllegalStateException("a greeting was not returned");
    }
  }

  private boolean executeNow(
      Deadline deadline, Duration readTimeout, RedisCall.RedisExchange exchange) {
    if (isClosed || deadline.nanosLeft() < MIN_NANOS || !tryAcquire(deadline)) {
      return false;
    }
    RedisCall call = new RedisCall(this, readTimeout, exchange);
    if (!trySubmit(() -> runAndRelease(call))) {
      permits.release();
      return false;
    }
    return awaitSuccess(call, deadline);
  }

  private boolean tryAcquire(Deadline deadline) {
    try {
      return permits.tryAcquire(deadline.nanosLeft(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Not where all this was closed meanwhile. */
  private boolean trySubmit(Runnable work) {
    try {
      threads.execute(work);
      return true;
    } catch (RejectedExecutionException e) {
      return false;
    }
  }

  private void runAndRelease(RedisCall call) {
    try {
      call.run();
    } finally {
      permits.release();
    }
  }

  /** One who has answered a part by the deadline is slow, and not away. */
  private boolean awaitSuccess(RedisCall call, Deadline deadline) {
    if (!call.await(deadline.nanosLeft())) {
      call.abandon();
      if (!call.hasReply() && !Thread.currentThread().isInterrupted()) {
        openBreaker(TIMED_OUT);
      }
      return false;
    }
    Optional<String> wrong =
        call.failure().map(failure -> RedisFailure.describe(failure, address.password()));
    wrong.ifPresentOrElse(this::openBreaker, breaker::close);
    return wrong.isEmpty();
  }

  /** A greeting that is cut off by closing is nobody's failure. */
  private void openBreaker(String why) {
    if (!isClosed) {
      failures.add(
          "asking",
          "the store %s is left alone for %d s: %s"
              .formatted(address, timeouts.retryAfter().toSeconds(), why));
    }
    breaker.open();
  }

  void connect(RedisConnection connection, Duration readTimeout) {
    connection.connect(address, tls, readTimeout);
  }

  /** One that was of use before. */
  Optional<RedisConnection> pollIdle() {
    return Optional.ofNullable(idle.pollFirst());
  }

  void release(RedisConnection connection) {
    idle.addFirst(connection);
    if (isClosed) {
      closeIdle();
    }
  }

  private void closeIdle() {
    for (Optional<RedisConnection> link = pollIdle(); link.isPresent(); link = pollIdle()) {
      link.get().close();
    }
  }

  @Override
  public void close() {
    isClosed = true;
    closeIdle();
    threads.shutdown();
  }
}
