package dev.kvasir.codec;

import dev.kvasir.codec.mead.MadeUpTables;
import dev.kvasir.codec.oscar.MadeUpRotations;
import dev.kvasir.codec.vqllm.MadeUpBooks;
import dev.kvasir.profile.Profile;

/** All that methods ask a profile for, but codebooks of commvq, which take their time. */
public final class MadeUpParts {
  private MadeUpParts() {}

  public static Profile addTo(Profile profile, CacheShape shape) {
    Profile with = MadeUpTables.addTo(profile, shape);
    return MadeUpBooks.addTo(MadeUpRotations.addTo(with, shape), shape);
  }
}
