package dev.kvasir.methods.rotatekv;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.SyntheticProfilePart;
import dev.kvasir.profile.Profile;
import java.util.SplittableRandom;

/** Random means of keys. */
public final class SyntheticKeyMeans implements SyntheticProfilePart {
  @Override
  public Profile addTo(Profile profile, CacheShape shape) {
    SplittableRandom random = new SplittableRandom(31);
    float[] means = new float[shape.layers() * shape.kvHeads() * shape.keyDim()];
    for (int i = 0; i < means.length; i++) {
      means[i] = (float) random.nextDouble(-2, 2);
    }
    return new RotatekvProfile(means).addTo(profile, shape);
  }
}
