package dev.kvasir.server.api;

import dev.kvasir.format.ContentHash;
import dev.kvasir.stored.Identity;
import java.net.URI;
import java.security.MessageDigest;
import java.util.List;
import java.util.Set;

/**
 * Which clients may use the server: programs on this machine, and clients with an API key. A web
 * page may only if the server itself sent it, or if its origin is allowed. Otherwise every page
 * that a user visits could query their server.
 *
 * @param keyDigests SHA-256 of each key; empty if none is needed
 * @param origins allowed origins of other sites
 */
public record AccessRules(List<byte[]> keyDigests, Set<String> origins) {
  private static final String SCHEME = "Bearer ";
  private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]", "::1");

  /** Returns rules without keys and without other origins. */
  public static AccessRules loopback() {
    return new AccessRules(List.of(), Set.of());
  }

  public static AccessRules of(List<String> keys, Set<String> origins) {
    return new AccessRules(keys.stream().map(ContentHash::of).toList(), Set.copyOf(origins));
  }

  public boolean hasKeys() {
    return !keyDigests.isEmpty();
  }

  /** Returns whether a host is the loopback interface. */
  public static boolean isLoopback(String host) {
    return LOOPBACK.contains(host);
  }

  /**
   * Returns the tenant of a request. Each key is a tenant; without keys there is one tenant. All
   * digests are compared in full, to keep the comparison in constant time.
   *
   * @throws ApiException if a key is needed and missing or unknown
   */
  public String tenant(String authorization) {
    if (!hasKeys()) {
      return "";
    }
    boolean given = authorization != null && authorization.startsWith(SCHEME);
    String secret = given ? authorization.substring(SCHEME.length()).strip() : "";
    byte[] digest = ContentHash.of(secret);
    boolean known = false;
    for (byte[] key : keyDigests) {
      known |= MessageDigest.isEqual(key, digest);
    }
    if (!known) {
      throw ApiException.unauthorized(
          given
              ? "the API key is unknown to this server"
              : "no API key was given; expected the header Authorization: Bearer KEY");
    }
    return Identity.tenant(secret);
  }

  /**
   * Checks the origin of a request. Without keys its host must be loopback: after DNS rebinding, a
   * page of an attacker would have the attacker's host name.
   *
   * @param origin as the browser sent it; null from programs
   * @param host the host and port that the request was sent to
   */
  public void checkOrigin(String origin, String host) {
    if (origin == null || origins.contains(origin)) {
      return;
    }
    boolean own = origin.equals("http://" + host) || origin.equals("https://" + host);
    if (!own || !hasKeys() && !isLoopback(hostOf(origin))) {
      throw ApiException.forbidden(
          "pages of another origin may not ask this server; --allow-origin names those that may");
    }
  }

  private static String hostOf(String origin) {
    try {
      String host = URI.create(origin).getHost();
      return host == null ? "" : host;
    } catch (IllegalArgumentException e) {
      return "";
    }
  }

  /** Returns whether CORS headers allow pages of this origin to read responses. */
  public boolean isAllowedOrigin(String origin) {
    return origin != null && origins.contains(origin);
  }
}
