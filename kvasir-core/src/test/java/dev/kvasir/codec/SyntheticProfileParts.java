package dev.kvasir.codec;

import dev.kvasir.profile.Profile;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Synthetic profile parts of all methods except commvq, whose codebooks take too long to create.
 */
public final class SyntheticProfileParts {
  private static final Map<Request, Profile> MADE = new ConcurrentHashMap<>();

  private SyntheticProfileParts() {}

  /** A profile, by identity, and what its parts are for. */
  private record Request(Profile profile, CacheShape shape) {}

  /** Returns the same profile for the same arguments: making one takes longer than many tests. */
  public static Profile addTo(Profile profile, CacheShape shape) {
    return MADE.computeIfAbsent(new Request(profile, shape), SyntheticProfileParts::make);
  }

  private static Profile make(Request request) {
    Profile all = request.profile();
    for (SyntheticProfilePart part : ServiceLoader.load(SyntheticProfilePart.class)) {
      all = part.addTo(all, request.shape());
    }
    return all;
  }
}
