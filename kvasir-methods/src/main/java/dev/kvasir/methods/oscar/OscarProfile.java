package dev.kvasir.methods.oscar;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.basis.Clipping;
import dev.kvasir.codec.basis.HouseholderRotation;
import dev.kvasir.codec.basis.LayerBasis;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.profile.Profile;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * What calibration learned about a model:
 *
 * <pre>
 * oscar/keys    (layers, kvHeads, keyDim, keyDim)      rotation of keys, orthogonal
 * oscar/values  (layers, kvHeads, valueDim, valueDim)  rotation of values
 * oscar/clips   (layers, 2)                            fractions of key and value ranges that are kept
 * </pre>
 */
public record OscarProfile(List<LayerBasis> layers) {
  /** Name of the profile part. */
  public static final String PART = "oscar";

  private static final String KEYS = PART + "/keys";
  private static final String VALUES = PART + "/values";
  private static final String CLIPS = PART + "/clips";

  static OscarProfile of(Profile profile, CacheShape shape) {
    float[] clips = profile.floats(CLIPS, shape.layers(), 2);
    return new OscarProfile(
        IntStream.range(0, shape.layers())
            .mapToObj(
                layer ->
                    new LayerBasis(
                        rotation(profile, KEYS, shape, shape.keyDim(), layer),
                        clipping(profile, clips[2 * layer], layer),
                        rotation(profile, VALUES, shape, shape.valueDim(), layer),
                        clipping(profile, clips[2 * layer + 1], layer)))
            .toList());
  }

  private static HouseholderRotation rotation(
      Profile profile, String key, CacheShape shape, int dim, int layer) {
    long count = (long) shape.kvHeads() * dim * dim;
    float[] rows =
        profile.slice(key, layer * count, count, shape.layers(), shape.kvHeads(), dim, dim);
    HouseholderRotation rotation = new HouseholderRotation(dim, rows);
    if (!rotation.isOrthogonal()) {
      throw new InvalidInputException(
          "%s: '%s' is no rotation in layer %d".formatted(profile.name(), key, layer));
    }
    return rotation;
  }

  private static Clipping clipping(Profile profile, float ratio, int layer) {
    if (!(ratio > 0 && ratio <= 1)) {
      throw new InvalidInputException(
          "%s: '%s' has %s in layer %d; expected more than 0, up to 1"
              .formatted(profile.name(), CLIPS, ratio, layer));
    }
    return new Clipping(ratio);
  }

  /** Returns the profile with this part added or replaced. */
  public Profile addTo(Profile profile, CacheShape shape) {
    float[] clips = new float[2 * layers.size()];
    for (int layer = 0; layer < layers.size(); layer++) {
      clips[2 * layer] = layers.get(layer).keyClipping().ratio();
      clips[2 * layer + 1] = layers.get(layer).valueClipping().ratio();
    }
    int keyDim = shape.keyDim();
    int valueDim = shape.valueDim();
    return profile
        .without(PART)
        .with(KEYS, rows(LayerBasis::keys), shape.layers(), shape.kvHeads(), keyDim, keyDim)
        .with(VALUES, rows(LayerBasis::values), shape.layers(), shape.kvHeads(), valueDim, valueDim)
        .with(CLIPS, clips, shape.layers(), 2);
  }

  private Stream<float[]> rows(Function<LayerBasis, Object> side) {
    return layers.stream()
        .map(side)
        .map(HouseholderRotation.class::cast)
        .map(HouseholderRotation::rows);
  }
}
