package dev.kvasir.codec;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.profile.Profile;
import java.util.List;
import java.util.Optional;

/**
 * How much the loss suffers where keys or values of a layer have codes of some width, as
 * calibration measured it; any method may use it.
 *
 * @param all (keys and values, layers, widths)
 */
public record LayerSensitivities(int layers, float[] values) {
  /** The part of a profile that calibration for {@code pmkvq} fills. */
  public static final String PART = "pmkvq";

  /** What a profile calls them. // (2, layers, widths) */
  public static final String KEY = PART + "/sensitivities";

  /** Bits that they were measured at, ascending. */
  public static final List<Integer> WIDTHS = List.of(2, 4, 8);

  /** What a profile says of how they were measured. */
  public static final String SOURCE = PART + "/settings";

  /** What that begins with where keys had a scale for each channel. */
  public static final String BY_CHANNEL = "keys by channel";

  /** Whether a profile has those of keys by channel; by token they suffer otherwise. */
  public static boolean hasPerChannel(Optional<Profile> profile) {
    return profile.flatMap(known -> known.shape(KEY)).isPresent()
        && profile.flatMap(known -> known.note(SOURCE)).orElse("").startsWith(BY_CHANNEL);
  }

  /** Those of a profile that has them. */
  public static LayerSensitivities of(Profile profile, int layers) {
    float[] all = profile.floats(KEY, 2, layers, WIDTHS.size());
    for (float one : all) {
      if (!(one >= 0 && one < Float.POSITIVE_INFINITY)) {
        throw new InvalidInputException(
            "%s: '%s' has %s; expected numbers from 0 on".formatted(profile.name(), KEY, one));
      }
    }
    return new LayerSensitivities(layers, all);
  }

  /**
   * @param width its place in {@link #WIDTHS}
   */
  public float ofKeys(int layer, int width) {
    return values[layer * WIDTHS.size() + width];
  }

  /** The same of values. */
  public float ofValues(int layer, int width) {
    return values[(layers + layer) * WIDTHS.size() + width];
  }
}
