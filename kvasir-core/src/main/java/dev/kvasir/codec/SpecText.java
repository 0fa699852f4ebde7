package dev.kvasir.codec;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.error.Spelling;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * A parsed cache spec, {@code name[:bits][,key=value...]}. Its error messages quote the user's
 * text.
 */
public final class SpecText {
  private static final int MAX_DENSE_TOKENS = 1 << 20;

  /** Older names of keys, which saved sessions and scripts may have. */
  private static final Map<String, String> OLD_KEYS =
      Map.of("lookup", OperandPrecision.KEY, "stored", ColdBlockConfig.KEY);

  /** Older words for values of {@link OperandPrecision#KEY}. */
  private static final Map<String, String> OLD_PRECISIONS = Map.of("exact", "15", "fast", "8");

  private final String text;
  private final String name;
  private final String bits; // null if absent
  private final Map<String, String> values = new LinkedHashMap<>();

  public SpecText(String text) {
    this.text = text;
    String[] parts = text.split(",", -1);
    String[] head = parts[0].split(":", 2);
    this.name = head[0];
    this.bits = head.length < 2 ? null : head[1];
    for (String part : Arrays.copyOfRange(parts, 1, parts.length)) {
      String[] pair = part.split("=", 2);
      String key = OLD_KEYS.getOrDefault(pair[0], pair[0]);
      String before = values.put(key, pair.length < 2 ? null : value(pair[0], pair[1]));
      if (before != null) {
        throw invalid("'%s' is given twice".formatted(key));
      }
    }
  }

  private String value(String typedKey, String typedValue) {
    if (!typedKey.equals("lookup")) {
      return typedValue;
    }
    String value = OLD_PRECISIONS.get(typedValue);
    if (value == null) {
      throw invalid("lookup is '%s'; possible are exact, fast".formatted(typedValue));
    }
    return value;
  }

  /** Returns a copy without a key that the method does not handle. */
  public SpecText without(String key) {
    SpecText other = new SpecText(text);
    other.values.keySet().retainAll(values.keySet());
    if (value(key) != null) {
      other.values.remove(key);
    }
    return other;
  }

  /** Returns a copy with other bits after the colon. */
  public SpecText withBits(String other) {
    String rest = values.isEmpty() ? "" : "," + String.join(",", pairs());
    return new SpecText("%s:%s%s".formatted(name, other, rest));
  }

  /** Returns a copy with another value of a key. */
  public SpecText with(String key, String value) {
    SpecText other = new SpecText(text);
    other.values.put(OLD_KEYS.getOrDefault(key, key), value(key, value));
    String head = bits == null ? name : name + ":" + bits;
    return new SpecText(head + "," + String.join(",", other.pairs()));
  }

  /**
   * Returns a copy in which a key stands for several settings. Where a key of them was typed too,
   * the typed value holds.
   *
   * @param settings as typed, as in {@code group=32,window=0}
   */
  public SpecText replacing(String key, String settings) {
    SpecText merged = new SpecText(name + "," + settings);
    merged.values.putAll(values);
    merged.values.remove(key);
    String head = bits == null ? name : name + ":" + bits;
    return new SpecText(head + "," + String.join(",", merged.pairs()));
  }

  private List<String> pairs() {
    return values.entrySet().stream()
        .map(
            pair -> pair.getValue() == null ? pair.getKey() : pair.getKey() + "=" + pair.getValue())
        .toList();
  }

  public String name() {
    return name;
  }

  /** Rejects keys that the method does not have. */
  public void requireKeys(String... known) {
    SortedSet<String> keys = new TreeSet<>(List.of(known));
    values.forEach(
        (key, value) -> {
          if (value == null && keys.contains(key)) {
            throw invalid("'%s' has no value; expected %s=VALUE".formatted(key, key));
          }
          if (value == null || !keys.contains(key)) {
            String part = value == null ? key : key + "=" + value;
            throw invalid(
                "'%s' is no key=value of %s; %s"
                    .formatted(
                        part, name, Spelling.hintOr(key, keys, "its keys are " + list(keys))));
          }
        });
  }

  public void requireNameOnly() {
    if (bits != null || !values.isEmpty()) {
      throw invalid("'%s' takes no bits and no keys".formatted(name));
    }
  }

  public boolean has(String key) {
    return values.containsKey(key);
  }

  /** Returns a value as typed, under the name that its key has today. */
  public String value(String key) {
    return values.get(key);
  }

  public String text() {
    return text;
  }

  /** Returns the bits after the colon. */
  public int bits(SortedSet<Integer> possible) {
    if (bits == null) {
      throw invalid(
          "'%s' needs its bits, as in %s:4; possible are %s".formatted(name, name, list(possible)));
    }
    return require("bits", number("bits", bits), possible);
  }

  /** Returns the bits after the colon, which may be fractional. */
  public double decimalBits(double min, double max) {
    if (bits == null) {
      throw invalid("'%s' needs its bits, as in %s:1.5".formatted(name, name));
    }
    return between("bits", bits, min, max);
  }

  /** Returns a number that may be fractional. */
  public double decimal(String key, double defaultValue, double min, double max) {
    return has(key) ? between(key, values.get(key), min, max) : defaultValue;
  }

  private double between(String key, String typed, double min, double max) {
    double value = decimal(key, typed);
    if (!(value >= min && value <= max)) {
      throw invalid("%s is %s; expected %s to %s".formatted(key, typed, min, max));
    }
    return value;
  }

  public boolean hasBits() {
    return bits != null;
  }

  public int oneOf(String key, int defaultValue, SortedSet<Integer> possible) {
    return has(key) ? require(key, number(key, values.get(key)), possible) : defaultValue;
  }

  private int require(String key, int value, SortedSet<Integer> possible) {
    if (!possible.contains(value)) {
      throw invalid("%s is %d; possible are %s".formatted(key, value, list(possible)));
    }
    return value;
  }

  public int tokens(String key, int defaultValue) {
    return between(key, defaultValue, 0, MAX_DENSE_TOKENS);
  }

  public int between(String key, int defaultValue, int min, int max) {
    int value = has(key) ? number(key, values.get(key)) : defaultValue;
    if (value < min || value > max) {
      throw invalid("%s is %d; expected %d to %d".formatted(key, value, min, max));
    }
    return value;
  }

  /** Returns a number above zero. */
  public double fraction(String key, double defaultValue, double max) {
    if (!has(key)) {
      return defaultValue;
    }
    String typed = values.get(key);
    double value = decimal(key, typed);
    if (!(value > 0 && value <= max)) {
      throw invalid("%s is %s; expected more than 0, up to %s".formatted(key, typed, max));
    }
    return value;
  }

  /** Returns whether an optional part of a method is enabled. */
  public boolean isOn(String key) {
    return choice(key, Switch.ON) == Switch.ON;
  }

  private enum Switch {
    ON,
    OFF
  }

  /** Returns an enum constant, typed in lower case. */
  public <E extends Enum<E>> E choice(String key, E defaultValue) {
    if (!has(key)) {
      return defaultValue;
    }
    List<E> possible = List.of(defaultValue.getDeclaringClass().getEnumConstants());
    for (E constant : possible) {
      if (typed(constant).equals(values.get(key))) {
        return constant;
      }
    }
    List<String> words = possible.stream().map(SpecText::typed).toList();
    throw invalid("%s is '%s'; possible are %s".formatted(key, values.get(key), list(words)));
  }

  private static String list(Collection<?> words) {
    return words.stream().map(Object::toString).collect(Collectors.joining(", "));
  }

  private static String typed(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  private double decimal(String key, String typed) {
    try {
      return Double.parseDouble(typed);
    } catch (NumberFormatException e) {
      throw invalid("%s is '%s'; expected a number".formatted(key, typed));
    }
  }

  private int number(String key, String value) {
    try {
      return Integer.parseInt(value);
    } catch (NumberFormatException e) {
      throw invalid("%s is '%s'; expected a whole number".formatted(key, value));
    }
  }

  public InvalidInputException invalid(String what) {
    return new InvalidInputException("the cache '%s': %s".formatted(text, what));
  }
}
