package dev.kvasir.hub;

import java.net.http.HttpHeaders;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * When a request is repeated: after 1, 2, 4 and 8 seconds, or after the time that a busy server
 * states.
 *
 * @param attempts in a row without progress, at least 1
 * @param pause waits; tests replace it
 */
record RetryPolicy(int attempts, Pause pause) {
  /** Waits for a duration. */
  @FunctionalInterface
  interface Pause {
    void sleep(Duration duration) throws InterruptedException;
  }

  /** A server that asks for more than this is not waited for. */
  static final Duration MAX_WAIT = Duration.ofMinutes(5);

  private static final Duration FIRST = Duration.ofSeconds(1);
  private static final Duration LONGEST = Duration.ofSeconds(8);

  /** The hub's own header: {@code "api";r=0;t=55}, where t is in seconds. */
  private static final Pattern LIMIT = Pattern.compile("\\bt=(\\d{1,9})\\b");

  static final RetryPolicy USUAL = new RetryPolicy(5, Thread::sleep);

  /**
   * @param failures in a row, at least 1
   */
  static Duration backoff(int failures) {
    Duration delay = FIRST.multipliedBy(1L << Math.min(failures - 1, 10));
    return delay.compareTo(LONGEST) < 0 ? delay : LONGEST;
  }

  /** Returns the time that a server asks to wait, in seconds, as a date or in the hub's header. */
  static Optional<Duration> requestedWait(HttpHeaders headers, Instant now) {
    return headers
        .firstValue("Retry-After")
        .flatMap(text -> retryAfter(text.strip(), now))
        .or(() -> headers.firstValue("RateLimit").flatMap(RetryPolicy::limit));
  }

  private static Optional<Duration> retryAfter(String text, Instant now) {
    if (text.matches("\\d{1,9}")) {
      return Optional.of(Duration.ofSeconds(Long.parseLong(text)));
    }
    try {
      Instant then = ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
      Duration wait = Duration.between(now, then);
      return Optional.of(wait.isNegative() ? Duration.ZERO : wait);
    } catch (DateTimeException | ArithmeticException e) {
      return Optional.empty();
    }
  }

  private static Optional<Duration> limit(String text) {
    Matcher found = LIMIT.matcher(text);
    return found.find()
        ? Optional.of(Duration.ofSeconds(Long.parseLong(found.group(1))))
        : Optional.empty();
  }
}
