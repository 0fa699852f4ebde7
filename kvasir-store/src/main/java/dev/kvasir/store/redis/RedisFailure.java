package dev.kvasir.store.redis;

import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * Describes failures in Kvasir's own words. Some servers echo a command in an error, which may
 * contain a password.
 */
final class RedisFailure {
  /** Errors start with a word for their kind, such as NOAUTH or OOM. */
  private static final Pattern KIND = Pattern.compile("([A-Z]{2,24})\\b.*", Pattern.DOTALL);

  private RedisFailure() {}

  static boolean isTimeOut(Throwable failure) {
    return has(failure, SocketTimeoutException.class);
  }

  static String describe(Throwable failure, Optional<String> secret) {
    if (isTimeOut(failure)) {
      return "it did not answer in time";
    }
    if (has(failure, UnknownHostException.class)) {
      return "its host is unknown";
    }
    if (has(failure, ConnectException.class)) {
      return "nobody listens there";
    }
    if (has(failure, SSLException.class)) {
      return "its certificate or its TLS is not to be trusted";
    }
    return switch (failure) {
      case JedisDataException refused -> "it answered " + kind(refused, secret);
      case JedisConnectionException broken ->
          "the connection broke, or what it answered is no Redis";
      default -> "what it answered is no Redis";
    };
  }

  private static String kind(JedisDataException refused, Optional<String> secret) {
    Matcher matcher = KIND.matcher(String.valueOf(refused.getMessage()));
    return matcher.matches() && !matcher.group(1).equals(secret.orElse(""))
        ? matcher.group(1)
        : "with an error";
  }

  private static boolean has(Throwable failure, Class<? extends Throwable> kind) {
    return Stream.iterate(failure, e -> e != null, Throwable::getCause)
        .flatMap(e -> Stream.concat(Stream.of(e), Stream.of(e.getSuppressed())))
        .anyMatch(kind::isInstance);
  }
}
