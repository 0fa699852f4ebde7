package dev.kvasir.codec.uniform;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.OperandPrecision;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.SpecText;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.page.HeadShape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/** The options shared by all methods with uniform codes, per-channel keys and per-token values. */
public record UniformOptions(
    String method,
    int keyBits,
    int valueBits,
    int group,
    int window,
    int sinks,
    OperandPrecision operandPrecision) {
  public static final SortedSet<Integer> BITS = new TreeSet<>(Set.of(1, 2, 3, 4, 8));
  public static final SortedSet<Integer> GROUPS = new TreeSet<>(Set.of(32, 64, 128));
  private static final int MAX_CHANNELS = HeadShape.MAX_CHANNELS;
  private static final int DEFAULT_GROUP = 128;
  private static final int DEFAULT_WINDOW = 128;

  /**
   * Parses a spec.
   *
   * @param others further keys of the method
   */
  public static UniformOptions of(SpecText spec, String... others) {
    List<String> known = new ArrayList<>(Arrays.asList(others));
    known.addAll(List.of("k", "v", "group", "window", "sinks", OperandPrecision.KEY));
    spec.requireKeys(known.toArray(String[]::new));
    boolean both = spec.has("k") && spec.has("v");
    int bits = both && !spec.hasBits() ? 0 : spec.bits(BITS);
    return of(spec, spec.oneOf("k", bits, BITS), spec.oneOf("v", bits, BITS));
  }

  /** Parses the remaining keys of a spec whose bits and other keys the method has read. */
  public static UniformOptions of(SpecText spec, int keyBits, int valueBits) {
    return new UniformOptions(
        spec.name(),
        keyBits,
        valueBits,
        spec.oneOf("group", DEFAULT_GROUP, GROUPS),
        spec.tokens("window", DEFAULT_WINDOW),
        spec.tokens("sinks", 0),
        OperandPrecision.of(spec));
  }

  /** Returns a copy with other bits for both keys and values. */
  public UniformOptions withBits(int bits) {
    return withBits(bits, bits);
  }

  /** Returns a copy with other bits. */
  public UniformOptions withBits(int ofKeys, int ofValues) {
    return new UniformOptions(method, ofKeys, ofValues, group, window, sinks, operandPrecision);
  }

  /** Returns a copy with another maximum of numbers that share a scale. */
  public UniformOptions withGroup(int numbers) {
    return new UniformOptions(method, keyBits, valueBits, numbers, window, sinks, operandPrecision);
  }

  /** Returns a copy with another number of sinks. */
  public UniformOptions withSinks(int first) {
    return new UniformOptions(method, keyBits, valueBits, group, window, first, operandPrecision);
  }

  public HeadShape head(CacheShape shape) {
    requireSupported(method, shape);
    HeadShape head =
        HeadShape.uniform(shape.keyDim(), shape.valueDim(), keyBits, group, valueBits, group);
    return shape.hasValuesInKeys() ? head.withValuesInKeys() : head;
  }

  /** Rejects head dimensions that the codes do not support. */
  public static void requireSupported(String cache, CacheShape shape) {
    requireSupported(cache, shape.keyDim());
    requireSupported(cache, shape.valueDim());
  }

  private static void requireSupported(String cache, int channels) {
    if (channels % 4 != 0 || channels > MAX_CHANNELS) {
      throw new InvalidInputException(
          "the cache '%s' cannot pack heads of %d channels; expected a multiple of 4 up to %d"
              .formatted(cache, channels, MAX_CHANNELS));
    }
  }

  public CacheConfig cacheConfig(PageCodec codec) {
    return new CacheConfig(Precision.F16, sinks, window, Optional.of(codec));
  }
}
