package dev.kvasir.store.redis;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import redis.clients.jedis.exceptions.JedisConnectionException;

/** Something that is asked of a server on a thread of its own, while the caller waits so long. */
final class RedisCall implements Runnable {
  /** What is said and heard; it may be said twice, where the first connection was dead already. */
  interface Talk {
    /**
     * @param heard to be run at every answer
     */
    void on(BoundedConnection connection, Runnable heard);
  }

  private final RedisLinks links;
  private final Duration silence;
  private final Talk talk;
  private final CountDownLatch end = new CountDownLatch(1);
  private volatile boolean isHeard;
  private volatile Throwable failure;

  /** The link that the call is on, if any; guarded by this object, as is the next. */
  private RedisLink link;

  private boolean isAbandoned;

  /**
   * @param silence after which the server has failed
   */
  RedisCall(RedisLinks links, Duration silence, Talk talk) {
    this.links = links;
    this.silence = silence;
    this.talk = talk;
  }

  /**
   * What goes wrong is kept for the caller; a length out of garbage may even ask for all memory.
   */
  @Override
  public void run() {
    try {
      if (!isSaidOnSpare()) {
        RedisLink fresh = take(new RedisLink());
        links.connect(fresh, silence);
        sayOn(fresh);
      }
    } catch (Throwable e) {
      failure = e;
      abandon();
    } finally {
      end.countDown();
    }
  }

  /** A connection that has waited may have been closed by the server, which is no failure. */
  private boolean isSaidOnSpare() {
    Optional<RedisLink> spare = links.spare();
    if (spare.isEmpty()) {
      return false;
    }
    try {
      sayOn(take(spare.get()));
      return true;
    } catch (JedisConnectionException e) {
      if (isHeard || RedisFailure.isTimeOut(e)) {
        throw e;
      }
      spare.get().close();
      return false;
    }
  }

  private synchronized RedisLink take(RedisLink taken) {
    link = taken;
    if (isAbandoned) {
      taken.close();
    }
    return taken;
  }

  private void sayOn(RedisLink taken) {
    talk.on(taken.connection(silence), () -> isHeard = true);
    giveBack(taken);
  }

  private synchronized void giveBack(RedisLink taken) {
    if (!isAbandoned) {
      link = null;
      links.giveBack(taken);
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
    if (link != null) {
      link.close();
    }
  }

  /** Whether the server has answered anything. */
  boolean isHeard() {
    return isHeard;
  }

  /** What went wrong, if anything did. */
  Optional<Throwable> failure() {
    return Optional.ofNullable(failure);
  }
}
