package dev.kvasir.codec.basis;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.profile.Profile;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Factors that divide the keys of a layer before quantization, so that no channel dominates the
 * range of a token. Queries are multiplied by the same factors, which leaves scores unchanged.
 *
 * @param factors (kvHeads, keyDim)
 */
public record SmoothingFactors(int keyDim, float[] factors) implements HeadBasis {
  /** The profile part with the factors. */
  public static final String PART = "pmkvq";

  /** The profile key of calibrated factors by layer, KV head and channel. */
  private static final String KEY = PART + "/smoothing"; // (layers, kvHeads, keyDim)

  /** Half of the largest fp16 number: the range of numbers up to this limit fits in fp16. */
  private static final float MAX_QUOTIENT = 32752;

  /** Returns the factors of each layer, or an empty list if the profile has none. */
  public static List<SmoothingFactors> of(Optional<Profile> profile, CacheShape shape) {
    if (profile.flatMap(known -> known.shape(KEY)).isEmpty()) {
      return List.of();
    }
    int kvHeads = shape.kvHeads();
    int keyDim = shape.keyDim();
    float[] all = profile.get().floats(KEY, shape.layers(), kvHeads, keyDim);
    return IntStream.range(0, shape.layers())
        .mapToObj(layer -> of(profile.get().name(), all, layer, kvHeads, keyDim))
        .toList();
  }

  /** Returns the factors of a layer, taken from those of all layers. */
  public static SmoothingFactors of(
      String source, float[] all, int layer, int kvHeads, int keyDim) {
    int count = kvHeads * keyDim;
    float[] factors = Arrays.copyOfRange(all, layer * count, (layer + 1) * count);
    for (float factor : factors) {
      if (!(factor > 0 && factor < Float.POSITIVE_INFINITY)) {
        throw new InvalidInputException(
            "%s: a smoothing factor of layer %d is %s; expected numbers above 0"
                .formatted(source, layer, factor));
      }
    }
    return new SmoothingFactors(keyDim, factors);
  }

  /** Divides keys. If a factor is far too small for a key, the key is clipped. */
  @Override
  public void transform(int kvHead, float[] x, int at, int rows) {
    for (int i = 0; i < rows * keyDim; i++) {
      float quotient = x[at + i] / factors[kvHead * keyDim + i % keyDim];
      x[at + i] = Math.clamp(quotient, -MAX_QUOTIENT, MAX_QUOTIENT);
    }
  }

  /** Multiplies keys by the factors. */
  @Override
  public void invert(int kvHead, float[] x, int at, int rows) {
    for (int row = 0; row < rows; row++) {
      for (int channel = 0; channel < keyDim; channel++) {
        x[at + row * keyDim + channel] *= factors[kvHead * keyDim + channel];
      }
    }
  }

  @Override
  public void transformQueries(int kvHead, float[] queries, int at, int rows) {
    invert(kvHead, queries, at, rows);
  }

  @Override
  public int fingerprint() {
    return Arrays.hashCode(factors);
  }
}
