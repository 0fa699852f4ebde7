package dev.kvasir.methods.vqllm;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.profile.Profile;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Codebooks that calibration learned for a model; fewer bits use the first stages.
 *
 * <pre>
 * vqllm/keys    (layers, 8 stages, 256 rows, 32 channels)  halves
 * vqllm/values  the same
 * </pre>
 */
public record VqllmProfile(List<LayerResidualCodebooks> layers) {
  /** Name of the profile part. */
  public static final String PART = "vqllm";

  private static final String KEYS = PART + "/keys";
  private static final String VALUES = PART + "/values";

  static VqllmProfile of(Profile profile, CacheShape shape) {
    return new VqllmProfile(
        IntStream.range(0, shape.layers())
            .mapToObj(
                layer ->
                    new LayerResidualCodebooks(
                        codebooks(profile, KEYS, shape, layer),
                        codebooks(profile, VALUES, shape, layer)))
            .toList());
  }

  private static ResidualCodebooks codebooks(
      Profile profile, String key, CacheShape shape, int layer) {
    long[] whole = shapeOf(shape);
    long count = whole[1] * whole[2] * whole[3];
    return new ResidualCodebooks(profile.slice(key, layer * count, count, whole));
  }

  private static long[] shapeOf(CacheShape shape) {
    return new long[] {
      shape.layers(), ResidualCodebooks.STAGES, ResidualCodebooks.ROWS, ChannelGroups.CHANNELS
    };
  }

  /** Returns the profile with this part added or replaced. */
  public Profile addTo(Profile profile, CacheShape shape) {
    return profile
        .without(PART)
        .withHalves(KEYS, layers.stream().map(layer -> layer.keys().rows()), shapeOf(shape))
        .withHalves(VALUES, layers.stream().map(layer -> layer.values().rows()), shapeOf(shape));
  }
}
