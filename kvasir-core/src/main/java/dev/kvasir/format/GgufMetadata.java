package dev.kvasir.format;

import dev.kvasir.error.InvalidInputException;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * The key-value pairs in the header of a GGUF file. Values are {@link Long}, {@link Double}, {@link
 * Boolean}, {@link String}, or an array of one type: {@code long[]}, {@code float[]}, {@code
 * boolean[]}, {@code String[]}, or {@code Object[]} for nested arrays.
 */
public final class GgufMetadata {
  private final String fileName;
  private final Map<String, Object> values;

  GgufMetadata(String fileName, Map<String, Object> values) {
    this.fileName = fileName;
    this.values = Collections.unmodifiableMap(values);
  }

  public Set<String> keys() {
    return values.keySet();
  }

  /** Returns the raw value, for display. */
  public Optional<Object> value(String key) {
    return Optional.ofNullable(values.get(key));
  }

  public Optional<String> string(String key) {
    return typed(key, String.class, "a string");
  }

  public String requireString(String key) {
    return string(key).orElseThrow(() -> missing(key, "a string"));
  }

  public OptionalInt integer(String key) {
    Optional<Long> value = typed(key, Long.class, "an integer");
    return value.isEmpty() ? OptionalInt.empty() : integer(key, value.get());
  }

  private OptionalInt integer(String key, long value) {
    if (value < 0 || value > Integer.MAX_VALUE) {
      throw new InvalidInputException(
          "%s: '%s' is %d; expected 0 to %d".formatted(fileName, key, value, Integer.MAX_VALUE));
    }
    return OptionalInt.of((int) value);
  }

  /**
   * Returns an integer that is the same for all layers; some files have one value, others one per
   * layer.
   *
   * @throws InvalidInputException if layers differ
   */
  public OptionalInt uniformInteger(String key) {
    if (!(values.get(key) instanceof long[] each) || each.length == 0) {
      return integer(key);
    }
    for (long one : each) {
      if (one != each[0]) {
        throw new InvalidInputException(
            "%s: '%s' is %d in one layer and %d in another; expected the same in all"
                .formatted(fileName, key, each[0], one));
      }
    }
    return integer(key, each[0]);
  }

  public int requireUniformInteger(String key) {
    return uniformInteger(key).orElseThrow(() -> missing(key, "an integer"));
  }

  public int requireInteger(String key) {
    return integer(key).orElseThrow(() -> missing(key, "an integer"));
  }

  public Optional<Double> number(String key) {
    if (values.get(key) instanceof Long integer) {
      return Optional.of(integer.doubleValue());
    }
    return typed(key, Double.class, "a number");
  }

  public Optional<Boolean> bool(String key) {
    return typed(key, Boolean.class, "true or false");
  }

  public Optional<boolean[]> bools(String key) {
    return typed(key, boolean[].class, "an array of true and false");
  }

  public Optional<String[]> strings(String key) {
    return typed(key, String[].class, "an array of strings");
  }

  public Optional<long[]> integers(String key) {
    return typed(key, long[].class, "an array of integers");
  }

  public Optional<float[]> floats(String key) {
    return typed(key, float[].class, "an array of floats");
  }

  private <T> Optional<T> typed(String key, Class<T> type, String expected) {
    Object value = values.get(key);
    if (value == null) {
      return Optional.empty();
    }
    if (!type.isInstance(value)) {
      throw new InvalidInputException(
          "%s: '%s' is %s; expected %s".formatted(fileName, key, describe(value), expected));
    }
    return Optional.of(type.cast(value));
  }

  private InvalidInputException missing(String key, String expected) {
    return new InvalidInputException(
        "%s: '%s' is missing; expected %s".formatted(fileName, key, expected));
  }

  private static String describe(Object value) {
    return switch (value) {
      case String text -> "the string '" + Excerpt.of(text) + "'";
      case Number number -> "the number " + number;
      case Boolean bool -> bool.toString();
      case String[] strings -> "an array of %d strings".formatted(strings.length);
      case long[] integers -> "an array of %d integers".formatted(integers.length);
      case float[] floats -> "an array of %d floats".formatted(floats.length);
      case boolean[] bools -> "an array of %d booleans".formatted(bools.length);
      default -> "an array of arrays";
    };
  }
}
