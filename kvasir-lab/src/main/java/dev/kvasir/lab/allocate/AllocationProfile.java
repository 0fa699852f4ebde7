package dev.kvasir.lab.allocate;

import dev.kvasir.codec.LayerSensitivities;
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
 * pmkvq/sensitivities  (2, layers, 3)  of keys and of values, at 2, 4 and 8 bits
 * layers/widths        (layers)        bits
 * </pre>
 *
 * @param source description of the data that the sensitivities were measured on
 */
public record AllocationProfile(String source, Sensitivities sensitivities, List<Integer> widths) {
  private static final String PART = "pmkvq";
  private static final String WIDTHS = LayerWidths.KEY;
  private static final String SENSITIVITIES = LayerSensitivities.KEY;
  private static final String SOURCE = LayerSensitivities.SOURCE;

  /** Returns a profile in which this part replaces any earlier one. */
  public Profile addTo(Profile profile) {
    int layers = sensitivities.layers();
    int count = sensitivities.widths().size();
    float[] bits = new float[layers];
    for (int layer = 0; layer < layers; layer++) {
      bits[layer] = widths.get(layer);
    }
    return profile
        .without(PART)
        .without(LayerWidths.PART)
        .withNote(SOURCE, source)
        .with(SENSITIVITIES, sensitivities.floats(), 2, layers, count)
        .with(WIDTHS, bits, layers);
  }

  /** Returns the sensitivities in a profile if they have the same source. */
  public static Optional<Sensitivities> sensitivities(Profile profile, String source, int layers) {
    if (!profile.note(SOURCE).equals(Optional.of(source))
        || profile.shape(SENSITIVITIES).isEmpty()) {
      return Optional.empty();
    }
    int count = Sensitivities.WIDTHS.size();
    float[] all = profile.floats(SENSITIVITIES, 2, layers, count);
    return Optional.of(Sensitivities.of(Sensitivities.WIDTHS, layers, all));
  }

  public static List<Integer> widths(Profile profile, int layers) {
    float[] bits = profile.floats(WIDTHS, layers);
    return IntStream.range(0, layers).mapToObj(layer -> (int) bits[layer]).toList();
  }
}
