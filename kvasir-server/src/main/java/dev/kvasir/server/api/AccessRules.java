package dev.kvasir.server.api;

import dev.kvasir.format.ContentHash;
import dev.kvasir.stored.Identity;
import java.security.MessageDigest;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Which clients may use the server: programs on this machine, and clients with an API key. A web
 * page may only if the server itself sent it, or if its origin is allowed. Otherwise every page
 * that a user visits could query their server.
 *
 * <p>After DNS rebinding a page has the origin of the server, but under the host name of the
 * attacker. A server on the loopback interface without keys therefore accepts only host names that
 * no attacker can own: addresses, {@code localhost}, and the names that its user lists.
 *
 * @param keyDigests SHA-256 of each key; empty if none is needed
 * @param origins allowed origins of other sites
 * @param hosts allowed host names in lower case, besides addresses and {@code localhost}
 * @param acceptsAnyHost whether unlisted host names are accepted as long as {@code hosts} is empty
 */
public record AccessRules(
    List<byte[]> keyDigests, Set<String> origins, Set<String> hosts, boolean acceptsAnyHost) {
  /** What precedes a key in the header {@code Authorization}. */
  public static final String SCHEME = "Bearer ";

  private static final Pattern ADDRESS = Pattern.compile("[0-9]+(\\.[0-9]+)*|\\[[0-9a-f:.%]+]");
  private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]", "::1");

  /** Returns rules without keys and without other origins. */
  public static AccessRules loopback() {
    return of(List.of(), Set.of());
  }

  public static AccessRules of(List<String> keys, Set<String> origins) {
    List<byte[]> digests = keys.stream().map(ContentHash::of).toList();
    return new AccessRules(digests, Set.copyOf(origins), Set.of(), !digests.isEmpty());
  }

  /** Accepts these host names, besides addresses and {@code localhost}. */
  public AccessRules withHosts(Set<String> names) {
    Set<String> lowerCase =
        names.stream().map(name -> name.toLowerCase(Locale.ROOT)).collect(Collectors.toSet());
    return new AccessRules(keyDigests, origins, Set.copyOf(lowerCase), acceptsAnyHost);
  }

  /** Returns the rules of a server that listens on this interface. */
  public AccessRules listeningOn(String address) {
    return new AccessRules(keyDigests, origins, hosts, hasKeys() || !isLoopback(address));
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
   * Checks the host name that a request was sent to.
   *
   * @param host the header, with or without a port; null in HTTP/1.0
   */
  public void checkHost(String host) {
    if (host == null || acceptsAnyHost && hosts.isEmpty() || isTrusted(nameOf(host))) {
      return;
    }
    throw ApiException.forbidden(
        "the host name of this request is not accepted; --allow-host names those that are");
  }

  private static String nameOf(String host) {
    return host.replaceFirst(":[0-9]*$", "").replaceFirst("\\.$", "").toLowerCase(Locale.ROOT);
  }

  /** DNS cannot rebind an address, nor localhost, which browsers resolve themselves. */
  private boolean isTrusted(String name) {
    return ADDRESS.matcher(name).matches()
        || name.equals("localhost")
        || name.endsWith(".localhost")
        || hosts.contains(name);
  }

  /**
   * Checks the origin of a request. Without keys its host must be trusted as well.
   *
   * @param origin as the browser sent it; null from programs
   * @param host the host and port that the request was sent to
   */
  public void checkOrigin(String origin, String host) {
    if (origin == null || origins.contains(origin)) {
      return;
    }
    boolean own =
        host != null && (origin.equals("http://" + host) || origin.equals("https://" + host));
    if (!own || !hasKeys() && !isTrusted(nameOf(host))) {
      throw ApiException.forbidden(
          "pages of another origin may not ask this server; --allow-origin names those that may");
    }
  }

  /** Returns whether CORS headers allow pages of this origin to read responses. */
  public boolean isAllowedOrigin(String origin) {
    return origin != null && origins.contains(origin);
  }
}
