package dev.kvasir.codec;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.profile.Profile;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The increase of the loss when keys or values of a layer are quantized to a given bit width, as
 * measured by calibration. Any method may use it.
 *
 * @param values (keys and values, layers, widths)
 */
public record LayerSensitivities(int layers, float[] values) {
  /**
   * The profile parts that calibration for {@code pmkvq} writes: with a scale for each channel of
   * keys, and with a scale for each token. The first part may hold either; its note tells.
   */
  public static final List<String> PARTS = List.of("pmkvq", "pmkvq-token");

  /** The profile key within a part. // (2, layers, widths) */
  private static final String KEY = "/sensitivities";

  /** The profile note within a part that describes the measurement. */
  private static final String SOURCE = "/settings";

  /** The measured bit widths, ascending. */
  public static final List<Integer> WIDTHS = List.of(2, 4, 8);

  /** The axis along which keys had their scales; sensitivities of the two differ. */
  public enum KeyScales {
    CHANNEL,
    TOKEN;

    /** The start of the note about a measurement. */
    public String note() {
      return "keys by " + name().toLowerCase(Locale.ROOT);
    }

    /** The part that a measurement goes to. */
    String part() {
      return PARTS.get(ordinal());
    }
  }

  /** Returns the sensitivities in a profile, if it has any for these key scales. */
  public static Optional<LayerSensitivities> find(
      Optional<Profile> profile, KeyScales scales, int layers) {
    return profile.flatMap(
        known -> part(known, scales).map(part -> read(known, part + KEY, layers)));
  }

  private static Optional<String> part(Profile profile, KeyScales scales) {
    return PARTS.stream()
        .filter(part -> profile.shape(part + KEY).isPresent())
        .filter(part -> profile.note(part + SOURCE).orElse("").startsWith(scales.note()))
        .findFirst();
  }

  private static LayerSensitivities read(Profile profile, String key, int layers) {
    float[] all = profile.floats(key, 2, layers, WIDTHS.size());
    for (float one : all) {
      if (!(one >= 0 && one < Float.POSITIVE_INFINITY)) {
        throw new InvalidInputException(
            "%s: '%s' has %s; expected numbers from 0 on".formatted(profile.name(), key, one));
      }
    }
    return new LayerSensitivities(layers, all);
  }

  /** Returns how the sensitivities in a profile were measured. */
  public static Optional<String> source(Profile profile, KeyScales scales) {
    return part(profile, scales).flatMap(part -> profile.note(part + SOURCE));
  }

  /**
   * Returns a profile in which these sensitivities, and what was derived from earlier ones of the
   * same key scales, are replaced.
   */
  public Profile addTo(Profile profile, KeyScales scales, String source) {
    Profile cleared = part(profile, scales).map(profile::without).orElse(profile);
    return addNextTo(cleared.without(scales.part()), scales, source);
  }

  /** Returns a profile with these sensitivities next to whatever else the part has. */
  public Profile addNextTo(Profile profile, KeyScales scales, String source) {
    return profile
        .withNote(scales.part() + SOURCE, source)
        .with(scales.part() + KEY, values, 2, layers, WIDTHS.size());
  }

  /** Returns the sensitivity of a layer, keys and values together, at a bit width. */
  public double of(int layer, int bits) {
    int width = WIDTHS.indexOf(bits);
    return (double) ofKeys(layer, width) + ofValues(layer, width);
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
