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
final class RedisLinks implements AutoCloseable {
  /** Connections at a time; calls beyond wait for one, until their deadline. */
  private static final int MOST = 8;

  /** With less time left than this a server is not asked, and cannot be blamed. */
  private static final long LEAST_NANOS = Duration.ofMillis(5).toNanos();

  private static final String SILENT = "it did not answer in time";

  private final RedisAddress address;
  private final SslOptions tls;
  private final RedisTimes times;
  private final Failures failures;
  private final Pause pause;
  private final Semaphore free = new Semaphore(MOST, true);
  private final Deque<RedisLink> spares = new ConcurrentLinkedDeque<>();
  private final ExecutorService threads =
      Executors.newCachedThreadPool(
          Thread.ofPlatform().daemon().name("kvasir-redis-", 0).factory());
  private volatile boolean isClosed;

  RedisLinks(RedisAddress address, SslOptions tls, RedisTimes times, Failures failures) {
    this.address = address;
    this.tls = tls;
    this.times = times;
    this.failures = failures;
    this.pause = new Pause(times.pause(), System::nanoTime);
  }

  /**
   * Asks, unless the server is being left alone.
   *
   * @param silence after which the server has failed, however far the deadline
   * @return whether all was said and heard in time; if not, some of it may have been
   */
  boolean ask(Deadline deadline, Duration silence, RedisCall.Talk talk) {
    if (pause.isOn()) {
      if (pause.mayTry()) {
        greet();
      }
      return false;
    }
    return askNow(deadline, silence, talk);
  }

  /** Finds out whether the server is there, and leaves a connection for others. */
  void greet() {
    isBegun(
        () ->
            askNow(
                Deadline.in(times.write()),
                times.writeSilence(),
                (server, heard) -> requireGreeting(server)));
  }

  private static void requireGreeting(Connection server) {
    if (!server.ping()) {
      throw new IllegalStateException("a greeting was not returned");
    }
  }

  private boolean askNow(Deadline deadline, Duration silence, RedisCall.Talk talk) {
    if (isClosed || deadline.nanosLeft() < LEAST_NANOS || !tryEnter(deadline)) {
      return false;
    }
    RedisCall call = new RedisCall(this, silence, talk);
    if (!isBegun(() -> runAndLeave(call))) {
      free.release();
      return false;
    }
    return isAnswered(call, deadline);
  }

  private boolean tryEnter(Deadline deadline) {
    try {
      return free.tryAcquire(deadline.nanosLeft(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Not where all this was closed meanwhile. */
  private boolean isBegun(Runnable work) {
    try {
      threads.execute(work);
      return true;
    } catch (RejectedExecutionException e) {
      return false;
    }
  }

  private void runAndLeave(RedisCall call) {
    try {
      call.run();
    } finally {
      free.release();
    }
  }

  /** One who has answered a part by the deadline is slow, and not away. */
  private boolean isAnswered(RedisCall call, Deadline deadline) {
    if (!call.await(deadline.nanosLeft())) {
      call.abandon();
      if (!call.isHeard() && !Thread.currentThread().isInterrupted()) {
        leaveAlone(SILENT);
      }
      return false;
    }
    Optional<String> wrong =
        call.failure().map(failure -> RedisFailure.words(failure, address.password()));
    wrong.ifPresentOrElse(this::leaveAlone, pause::end);
    return wrong.isEmpty();
  }

  /** A greeting that is cut off by closing is nobody's failure. */
  private void leaveAlone(String why) {
    if (!isClosed) {
      failures.add(
          "asking",
          "the store %s is left alone for %d s: %s"
              .formatted(address, times.pause().toSeconds(), why));
    }
    pause.begin();
  }

  void connect(RedisLink link, Duration silence) {
    link.connect(address, tls, silence);
  }

  /** One that was of use before. */
  Optional<RedisLink> spare() {
    return Optional.ofNullable(spares.pollFirst());
  }

  void giveBack(RedisLink link) {
    spares.addFirst(link);
    if (isClosed) {
      closeSpares();
    }
  }

  private void closeSpares() {
    for (Optional<RedisLink> link = spare(); link.isPresent(); link = spare()) {
      link.get().close();
    }
  }

  @Override
  public void close() {
    isClosed = true;
    closeSpares();
    threads.shutdown();
  }
}
