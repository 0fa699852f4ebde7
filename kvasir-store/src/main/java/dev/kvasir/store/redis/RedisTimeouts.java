package dev.kvasir.store.redis;

import java.time.Duration;

/**
 * How long a server may take.
 *
 * @param read for a whole read, however many blobs, and for silence in one that may take longer
 * @param write for a write, by whom no answer waits: a slow network takes its time for 20 MB
 * @param writeSilence for an answer to a write, and for all of a greeting
 * @param pause for which a server is left alone that has failed
 */
record RedisTimeouts(Duration read, Duration write, Duration writeReply, Duration retryAfter) {
  static final RedisTimeouts DEFAULT =
      new RedisTimeouts(
          Duration.ofMillis(200),
          Duration.ofSeconds(5),
          Duration.ofSeconds(1),
          Duration.ofSeconds(5));
}
