package dev.kvasir.codec;

import dev.kvasir.codec.mead.SyntheticMeadTables;
import dev.kvasir.codec.oscar.SyntheticRotations;
import dev.kvasir.codec.vqllm.SyntheticResidualCodebooks;
import dev.kvasir.profile.Profile;

/** All that methods ask a profile for, but codebooks of commvq, which take their time. */
public final class SyntheticProfileParts {
  private SyntheticProfileParts() {}

  public static Profile addTo(Profile profile, CacheShape shape) {
    Profile with = SyntheticMeadTables.addTo(profile, shape);
    return SyntheticResidualCodebooks.addTo(SyntheticRotations.addTo(with, shape), shape);
  }
}
