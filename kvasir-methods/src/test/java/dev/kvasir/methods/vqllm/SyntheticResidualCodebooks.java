package dev.kvasir.methods.vqllm;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.SyntheticProfilePart;
import dev.kvasir.profile.Profile;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/** Codebooks of random rows, for vectors of deviation 1. */
public final class SyntheticResidualCodebooks implements SyntheticProfilePart {
  @Override
  public Profile addTo(Profile profile, CacheShape shape) {
    SplittableRandom random = new SplittableRandom(43);
    return new VqllmProfile(
            Stream.generate(() -> new LayerResidualCodebooks(books(random), books(random)))
                .limit(shape.layers())
                .toList())
        .addTo(profile, shape);
  }

  static ResidualCodebooks books(SplittableRandom random) {
    int block = ResidualCodebooks.ROWS * ChannelGroups.CHANNELS;
    float[] rows = new float[ResidualCodebooks.STAGES * block];
    for (int i = 0; i < rows.length; i++) {
      rows[i] = (float) (0.5 * Math.pow(0.85, i / block) * random.nextGaussian());
    }
    return new ResidualCodebooks(rows);
  }
}
