package dev.kvasir.store.redis;

import java.time.Duration;

/**
 * Timeouts of a server.
 *
 * @param read for a whole read of any number of blobs, and without any reply in a longer one
 * @param write for a write, which nobody waits for; a slow network needs time for 20 MB
 * @param writeReply for the reply to a write, and for a whole ping
 * @param retryAfter for which a failed server is suspended
 */
record RedisTimeouts(Duration read, Duration write, Duration writeReply, Duration retryAfter) {
  static final RedisTimeouts DEFAULT =
      new RedisTimeouts(
          Duration.ofMillis(200),
          Duration.ofSeconds(5),
          Duration.ofSeconds(1),
          Duration.ofSeconds(5));
}
