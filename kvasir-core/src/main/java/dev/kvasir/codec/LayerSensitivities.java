package dev.kvasir.codec;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.profile.Profile;
import java.util.List;
import java.util.Optional;

/**
 * The increase of the loss when keys or values of a layer are quantized to a given bit width, as
 * measured by calibration. Any method may use it.
 *
 * @param values (keys and values, layers, widths)
 */
public record LayerSensitivities(int layers, float[] values) {
  /** The profile part that calibration for {@code pmkvq} writes. */
  public static final String PART = "pmkvq";

  /** The profile key. // (2, layers, widths) */
  public static final String KEY = PART + "/sensitivities";

  /** The measured bit widths, ascending. */
  public static final List<Integer> WIDTHS = List.of(2, 4, 8);

  /** The profile note that describes the measurement. */
  public static final String SOURCE = PART + "/settings";

  /** The start of that note if keys had per-channel scales. */
  public static final String BY_CHANNEL = "keys by channel";

  /**
   * Returns whether a profile has sensitivities for per-channel keys. Those for per-token keys
   * differ.
   */
  public static boolean hasPerChannel(Optional<Profile> profile) {
    return profile.flatMap(known -> known.shape(KEY)).isPresent()
        && profile.flatMap(known -> known.note(SOURCE)).orElse("").startsWith(BY_CHANNEL);
  }

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
   * Returns the sensitivity of a layer's keys.
   *
   * @param width index into {@link #WIDTHS}
   */
  public float ofKeys(int layer, int width) {
    return values[layer * WIDTHS.size() + width];
  }

  /**
   * Returns the sensitivity of a layer's values.
   *
   * @param width index into {@link #WIDTHS}
   */
  public float ofValues(int layer, int width) {
    return values[(layers + layer) * WIDTHS.size() + width];
  }
}
