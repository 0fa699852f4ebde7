package dev.kvasir.server.api;

import dev.kvasir.stored.Identity;
import java.util.Optional;

/**
 * Separates the cached prefixes of a client's own users. A salt becomes part of the tenant, so
 * prefixes of different salts are never shared, neither in memory nor in a store.
 */
public final class CacheSalt {
  /** The field of a request that contains the salt. */
  public static final String FIELD = "cache_salt";

  private static final int MAX_LENGTH = 200;

  private CacheSalt() {}

  /** Returns the tenant whose prefixes a request may use. */
  public static String tenant(String tenant, Fields request) {
    return tenant(tenant, request.string(FIELD));
  }

  /**
   * @param salt empty for none
   */
  public static String tenant(String tenant, Optional<String> salt) {
    if (salt.isEmpty()) {
      return tenant;
    }
    if (salt.get().isEmpty() || salt.get().length() > MAX_LENGTH) {
      throw ApiException.invalidField(
          FIELD,
          "%s has %d characters; expected 1 to %d"
              .formatted(FIELD, salt.get().length(), MAX_LENGTH));
    }
    return Identity.tenant("salt\n" + tenant + "\n" + salt.get());
  }
}
