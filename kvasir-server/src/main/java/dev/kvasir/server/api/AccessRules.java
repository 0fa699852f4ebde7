package dev.kvasir.server.api;

import dev.kvasir.format.ContentHash;
import dev.kvasir.stored.Identity;
import java.net.URI;
import java.security.MessageDigest;
import java.util.List;
import java.util.Set;

/**
 * Who may ask. Programs on this machine may, and who has a key. A page of a browser may only where
 * it comes from the server itself, or from an origin that was named: whatever page a person looks
 * at could otherwise ask their server.
 *
 * @param keyDigests SHA-256 of each key; empty where none is needed
 * @param origins of other sites' pages that may ask
 */
public record AccessRules(List<byte[]> keyDigests, Set<String> origins) {
  private static final String SCHEME = "Bearer ";
  private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]", "::1");

  /** No keys, and no other site's pages. */
  public static AccessRules loopback() {
    return new AccessRules(List.of(), Set.of());
  }

  public static AccessRules of(List<String> keys, Set<String> origins) {
    return new AccessRules(keys.stream().map(ContentHash::of).toList(), Set.copyOf(origins));
  }

  public boolean hasKeys() {
    return !keyDigests.isEmpty();
  }

  /** Whether a host is this machine alone. */
  public static boolean isLoopback(String host) {
    return LOOPBACK.contains(host);
  }

  /**
   * Whose request it is: each key is a tenant of its own, and without keys all are one. Digests
   * have one length, and each is compared to its end, whatever came before.
   *
   * @throws ApiException where a key is needed and not given
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
   * A page that an attacker's name leads here would name that as its host, so without keys the host
   * must be this machine's own.
   *
   * @param origin as the browser sent it; null from programs
   * @param host that the request was sent to, with its port
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

  /** Whether a browser is to be told that this origin's pages may read answers. */
  public boolean isAllowedOrigin(String origin) {
    return origin != null && origins.contains(origin);
  }
}
