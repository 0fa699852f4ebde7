package dev.kvasir.methods.oscar;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.SyntheticProfilePart;
import dev.kvasir.codec.basis.Clipping;
import dev.kvasir.codec.basis.HouseholderRotation;
import dev.kvasir.codec.basis.LayerBasis;
import dev.kvasir.profile.Profile;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/** Reflections at random planes, which are orthogonal like rotations. */
public final class SyntheticRotations implements SyntheticProfilePart {
  @Override
  public Profile addTo(Profile profile, CacheShape shape) {
    SplittableRandom random = new SplittableRandom(29);
    return new OscarProfile(
            Stream.generate(
                    () ->
                        new LayerBasis(
                            reflections(shape.kvHeads(), shape.keyDim(), random),
                            new Clipping(0.9f),
                            reflections(shape.kvHeads(), shape.valueDim(), random),
                            new Clipping(0.95f)))
                .limit(shape.layers())
                .toList())
        .addTo(profile, shape);
  }

  private static HouseholderRotation reflections(int heads, int dim, SplittableRandom random) {
    float[] rows = new float[heads * dim * dim];
    for (int head = 0; head < heads; head++) {
      double[] normal = random.doubles(dim, -1, 1).toArray();
      double square = 0;
      for (double x : normal) {
        square += x * x;
      }
      for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
          double same = i == j ? 1 : 0;
          rows[(head * dim + i) * dim + j] = (float) (same - 2 * normal[i] * normal[j] / square);
        }
      }
    }
    return new HouseholderRotation(dim, rows);
  }
}
