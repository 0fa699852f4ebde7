package dev.kvasir.codec;

import dev.kvasir.profile.Profile;

/**
 * What a method needs of a profile, made up for tests of any shape. The test sources of a method
 * provide it as a service, so a method with calibration is tested without a change to other tests.
 */
public interface SyntheticProfilePart {
  Profile addTo(Profile profile, CacheShape shape);
}
