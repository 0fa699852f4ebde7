package dev.kvasir.codec;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.profile.Profile;
import java.util.Arrays;
import java.util.Optional;
import java.util.SortedSet;

/** The bit width of each layer, as found by calibration. Any method may use it. */
public final class LayerWidths {
  /** The profile part shared by all methods. */
  public static final String PART = "layers";

  /** The profile key of the bits of each layer. // (layers) */
  public static final String KEY = PART + "/widths";

  public enum Source {
    /** The same bits in all layers. */
    SAME,

    /** The bits given by the model's profile. */
    PROFILE
  }

  private LayerWidths() {}

  public static boolean presentIn(Optional<Profile> profile) {
    return profile.flatMap(known -> known.shape(KEY)).isPresent();
  }

  /**
   * Returns the bits of each layer.
   *
   * @param spec the spec of the cache that needs them
   * @param possible bit widths that the method supports
   */
  public static int[] of(
      String spec, Optional<Profile> profile, int layers, SortedSet<Integer> possible) {
    if (!presentIn(profile)) {
      throw new InvalidInputException(
          "the cache '%s': widths=profile needs a profile that has '%s'; run kvasir calibrate"
              .formatted(spec, KEY));
    }
    float[] values = profile.get().floats(KEY, layers);
    int[] widths = new int[layers];
    for (int layer = 0; layer < layers; layer++) {
      widths[layer] = (int) values[layer];
      if (widths[layer] != values[layer] || !possible.contains(widths[layer])) {
        throw new InvalidInputException(
            "%s: '%s' is %s; the cache '%s' can have %s"
                .formatted(profile.get().name(), KEY, Arrays.toString(values), spec, possible));
      }
    }
    return widths;
  }
}
