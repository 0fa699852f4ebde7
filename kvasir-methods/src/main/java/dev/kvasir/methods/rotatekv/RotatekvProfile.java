package dev.kvasir.methods.rotatekv;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.basis.Hadamard;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.profile.Profile;
import java.util.stream.IntStream;

/**
 * What calibration learned about a model:
 *
 * <pre>
 * rotatekv/means  (layers, kvHeads, keyDim)  mean key before RoPE
 * </pre>
 *
 * The transform of a group of heads is linear. The means of its channels are therefore the
 * transformed means of keys, for groups of any size.
 *
 * @param means (layers, kvHeads, keyDim)
 */
public record RotatekvProfile(float[] means) {
  /** Name of the profile part. */
  public static final String PART = "rotatekv";

  private static final String MEANS = PART + "/means";

  static RotatekvProfile of(Profile profile, CacheShape shape) {
    float[] means = profile.floats(MEANS, shape.layers(), shape.kvHeads(), shape.keyDim());
    if (!IntStream.range(0, means.length).allMatch(i -> Float.isFinite(means[i]))) {
      throw new InvalidInputException(
          "%s: '%s' has a mean that is not finite".formatted(profile.name(), MEANS));
    }
    return new RotatekvProfile(means);
  }

  /** Returns the profile with this part added or replaced. */
  public Profile addTo(Profile profile, CacheShape shape) {
    return profile
        .without(PART)
        .with(MEANS, means, shape.layers(), shape.kvHeads(), shape.keyDim());
  }

  /**
   * Returns the channel order of each layer.
   *
   * @return (layers, kvHeads * keyDim), group after group
   */
  int[][] orders(CacheShape shape, KeyGroups groups, Hadamard hadamard) {
    int width = shape.kvHeads() * shape.keyDim();
    int[][] orders = new int[shape.layers()][];
    for (int layer = 0; layer < orders.length; layer++) {
      float[] rotated = new float[width];
      System.arraycopy(means, layer * width, rotated, 0, width);
      for (int first = 0; first < width; first += groups.width()) {
        hadamard.transform(0, rotated, first, 1);
      }
      orders[layer] = groups.sorted(rotated);
    }
    return orders;
  }
}
