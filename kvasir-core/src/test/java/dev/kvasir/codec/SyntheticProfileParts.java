package dev.kvasir.codec;

import dev.kvasir.codec.mead.SyntheticMeadTables;
import dev.kvasir.codec.oscar.SyntheticRotations;
import dev.kvasir.codec.vqllm.SyntheticResidualCodebooks;
import dev.kvasir.profile.Profile;

/**
 * Synthetic profile parts of all methods except commvq, whose codebooks take too long to create.
 */
public final class SyntheticProfileParts {
  private SyntheticProfileParts() {}

  public static Profile addTo(Profile profile, CacheShape shape) {
    Profile with = SyntheticMeadTables.addTo(profile, shape);
    return SyntheticResidualCodebooks.addTo(SyntheticRotations.addTo(with, shape), shape);
  }
}
