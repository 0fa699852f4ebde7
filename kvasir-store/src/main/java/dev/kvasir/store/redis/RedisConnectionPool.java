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
import java.util.function.LongSupplier;
import redis.clients.jedis.Connection;
import redis.clients.jedis.SslOptions;

/**
 * A connection pool with deadlines. A caller never waits beyond its deadline, whatever the server,
 * the network or the name service do. Another thread runs the call, and its connection is closed
 * when the caller gives up. A failed server is suspended by a {@link CircuitBreaker}. A ping in the
 * background finds out whether it is back, and may take longer than a call. Thread-safe.
 */
final class RedisConnectionPool implements AutoCloseable {
  /** The maximum number of connections; further calls wait for one until their deadline. */
  private static final int MAX_CONNECTIONS = 8;

  /** With less time left, the server is not called and cannot be blamed. */
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
   * Runs an exchange unless the server is suspended.
   *
   * @param readTimeout without any reply, after which the server has failed, however far the
   *     deadline
   * @return whether the exchange completed in time; if not, a part of it may have taken effect
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

  /** Checks in the background whether the server is up, and leaves a connection in the pool. */
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

  /** Submits work; returns false if the pool is closed. */
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

  /** Waits for a call. A server that has sent some replies by the deadline is slow but not down. */
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

  /** Suspends the server. A ping that closing interrupts is not reported as a failure. */
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

  /** Returns a connection that was used before, if one is idle. */
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

  /**
   * Suspends calls to a failed server for a while, then lets one caller at a time probe it.
   * Thread-safe.
   */
  static final class CircuitBreaker {
    private final long nanos;
    private final LongSupplier clock;
    private boolean isOpen;
    private long until;

    CircuitBreaker(Duration length, LongSupplier clock) {
      this.nanos = length.toNanos();
      this.clock = clock;
    }

    synchronized void open() {
      isOpen = true;
      until = clock.getAsLong() + nanos;
    }

    synchronized void close() {
      isOpen = false;
    }

    synchronized boolean isOpen() {
      return isOpen;
    }

    /** Returns whether a probe is due; true for one caller, after which the wait starts again. */
    synchronized boolean mayProbe() {
      if (!isOpen || clock.getAsLong() - until < 0) {
        return false;
      }
      open();
      return true;
    }
  }
}
