package dev.kvasir.store.redis;

import dev.kvasir.error.InvalidInputException;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A server and the time to live of unused blobs: {@code
 * redis://[user:password@]host[:port][/db][?ttl=24h]}, or {@code rediss://} for TLS. Messages and
 * {@link #toString} omit the password.
 */
public record RedisAddress(
    boolean isEncrypted,
    Optional<String> user,
    Optional<String> password,
    String host,
    int port,
    int database,
    Duration timeToLive) {
  private static final String PLAIN = "redis";
  private static final String ENCRYPTED = "rediss";
  private static final int DEFAULT_PORT = 6379;
  private static final Duration DEFAULT_TTL = Duration.ofHours(24);
  private static final Duration MAX_TTL = Duration.ofDays(365);

  private static final Pattern TIME = Pattern.compile("ttl=([0-9]{1,8})([smhd])");
  private static final Pattern DATABASE = Pattern.compile("/?|/([0-9]{1,5})");
  private static final Pattern SECRET = Pattern.compile("(?<=://).*(?=@)", Pattern.DOTALL);

  public static boolean isRedisUri(String typed) {
    return typed.startsWith(PLAIN + "://") || typed.startsWith(ENCRYPTED + "://");
  }

  public static RedisAddress parse(String typed) {
    URI uri = uri(typed);
    Optional<String> login = Optional.ofNullable(uri.getUserInfo());
    int colon = login.map(l -> l.indexOf(':')).orElse(0);
    if (colon < 0 || colon + 1 == login.map(String::length).orElse(0)) {
      throw invalid(typed, "has no password before '@'; expected user:password@ or :password@");
    }
    return new RedisAddress(
        uri.getScheme().equals(ENCRYPTED),
        login.map(l -> l.substring(0, colon)).filter(user -> !user.isEmpty()),
        login.map(l -> l.substring(colon + 1)),
        uri.getHost().replaceAll("[\\[\\]]", ""),
        uri.getPort() < 0 ? DEFAULT_PORT : port(typed, uri.getPort()),
        database(typed, uri.getPath()),
        uri.getQuery() == null ? DEFAULT_TTL : time(typed, uri.getQuery()));
  }

  private static URI uri(String typed) {
    try {
      URI uri = new URI(typed);
      if (uri.getHost() != null && uri.getFragment() == null) {
        return uri;
      }
    } catch (URISyntaxException e) {
      // Its message would contain the password.
    }
    throw invalid(
        typed, "is no address; expected redis://[user:password@]host[:port][/db][?ttl=24h]");
  }

  private static int port(String typed, int port) {
    if (port < 1 || port > 0xffff) {
      throw invalid(typed, "has port %d; expected 1 to 65535".formatted(port));
    }
    return port;
  }

  private static int database(String typed, String path) {
    Matcher matcher = DATABASE.matcher(path);
    if (!matcher.matches()) {
      throw invalid(typed, "has the database '%s'; expected a number".formatted(path.substring(1)));
    }
    return matcher.group(1) == null ? 0 : Integer.parseInt(matcher.group(1));
  }

  private static Duration time(String typed, String query) {
    Matcher matcher = TIME.matcher(query);
    Duration time = matcher.matches() ? time(matcher) : Duration.ZERO;
    if (time.isZero() || time.compareTo(MAX_TTL) > 0) {
      throw invalid(
          typed, "ends in '%s'; expected ttl=24h, of s, m, h or d, 1s to 365d".formatted(query));
    }
    return time;
  }

  private static Duration time(Matcher matcher) {
    long number = Long.parseLong(matcher.group(1));
    return switch (matcher.group(2)) {
      case "s" -> Duration.ofSeconds(number);
      case "m" -> Duration.ofMinutes(number);
      case "h" -> Duration.ofHours(number);
      default -> Duration.ofDays(number);
    };
  }

  private static InvalidInputException invalid(String typed, String what) {
    return new InvalidInputException(
        "the store '%s' %s".formatted(SECRET.matcher(typed).replaceFirst("***"), what));
  }

  /** Returns the address without user and password. */
  @Override
  public String toString() {
    return "%s://%s:%d/%d"
        .formatted(
            isEncrypted ? ENCRYPTED : PLAIN,
            host.contains(":") ? "[" + host + "]" : host,
            port,
            database);
  }
}
