package dev.kvasir.codec;

import dev.kvasir.profile.Profile;
import java.util.ServiceLoader;

/**
 * Synthetic profile parts of all methods except commvq, whose codebooks take too long to create.
 */
public final class SyntheticProfileParts {
  private SyntheticProfileParts() {}

  public static Profile addTo(Profile profile, CacheShape shape) {
    Profile all = profile;
    for (SyntheticProfilePart part : ServiceLoader.load(SyntheticProfilePart.class)) {
      all = part.addTo(all, shape);
    }
    return all;
  }
}
