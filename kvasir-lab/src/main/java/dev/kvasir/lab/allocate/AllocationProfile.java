package dev.kvasir.lab.allocate;

import dev.kvasir.codec.LayerSensitivities;
import dev.kvasir.codec.LayerSensitivities.KeyScales;
import dev.kvasir.codec.LayerWidths;
import dev.kvasir.profile.Profile;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The part of a profile with sensitivities and the widths derived from them. Sensitivities are
 * stored because they take minutes to measure, while other widths follow from them immediately.
 *
 * <pre>
 * pmkvq/sensitivities        (2, layers, 3)  of keys and of values, at 2, 4 and 8 bits, or
 * pmkvq-token/sensitivities                  the same with a scale for each token of keys
 * layers/widths              (layers)        bits
 * </pre>
 *
 * @param scales the axis of key scales
 * @param source description of the data that the sensitivities were measured on
 */
public record AllocationProfile(
    KeyScales scales, String source, Sensitivities sensitivities, List<Integer> widths) {
  private static final String WIDTHS = LayerWidths.KEY;

  /** Returns a profile in which this part replaces any earlier one. */
  public Profile addTo(Profile profile) {
    int layers = sensitivities.layers();
    float[] bits = new float[layers];
    for (int layer = 0; layer < layers; layer++) {
      bits[layer] = widths.get(layer);
    }
    return new LayerSensitivities(layers, sensitivities.floats())
        .addTo(profile.without(LayerWidths.PART), scales, source)
        .with(WIDTHS, bits, layers);
  }

  /** Returns the sensitivities in a profile if they have the same source. */
  public static Optional<Sensitivities> sensitivities(
      Profile profile, KeyScales scales, String source, int layers) {
    return LayerSensitivities.source(profile, scales).equals(Optional.of(source))
        ? LayerSensitivities.find(Optional.of(profile), scales, layers)
            .map(found -> Sensitivities.of(Sensitivities.WIDTHS, layers, found.values()))
        : Optional.empty();
  }

  public static List<Integer> widths(Profile profile, int layers) {
    float[] bits = profile.floats(WIDTHS, layers);
    return IntStream.range(0, layers).mapToObj(layer -> (int) bits[layer]).toList();
  }
}
