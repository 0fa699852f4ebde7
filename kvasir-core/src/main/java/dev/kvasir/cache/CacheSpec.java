package dev.kvasir.cache;

import dev.kvasir.codec.kivi.KiviCodec;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.page.UniformShape;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The kind of cache that a user asks for, as typed: {@code name[:bits][,key=value...]}.
 *
 * @param text as typed
 */
public record CacheSpec(String text, Method method) {
  /** What a spec stands for, before the model's sizes are known. */
  sealed interface Method {
    CacheSettings settings(CacheShape shape);
  }

  /** Floating-point numbers and nothing packed. */
  record Dense(Precision precision) implements Method {
    @Override
    public CacheSettings settings(CacheShape shape) {
      return new CacheSettings(precision, 0, 0, Optional.empty());
    }
  }

  /** Uniform codes, keys by channel and values by token. */
  record Kivi(int keyBits, int valueBits, int group, int window, int sinks) implements Method {
    @Override
    public CacheSettings settings(CacheShape shape) {
      if (shape.headDim() % 4 != 0) {
        throw new InvalidInputException(
            "the cache 'kivi' cannot pack heads of %d channels; expected a multiple of 4"
                .formatted(shape.headDim()));
      }
      UniformShape page =
          new UniformShape(shape.kvHeads(), shape.headDim(), keyBits, group, valueBits, group);
      return new CacheSettings(Precision.F16, sinks, window, Optional.of(new KiviCodec(page)));
    }
  }

  private static final Map<String, Precision> DENSE =
      new LinkedHashMap<>(
          Map.of("fp16", Precision.F16, "bf16", Precision.BF16, "fp32", Precision.F32));
  private static final String METHODS = "fp16, bf16, fp32, kivi:BITS";
  private static final Set<Integer> BITS = new TreeSet<>(Set.of(1, 2, 3, 4, 8));
  private static final Set<Integer> GROUPS = new TreeSet<>(Set.of(32, 64, 128));
  private static final Set<String> KIVI_KEYS =
      new TreeSet<>(Set.of("k", "v", "group", "window", "sinks"));
  private static final int MOST_DENSE_TOKENS = 1 << 20;

  /** Half precision. */
  public static final CacheSpec DEFAULT = parse("fp16");

  public static CacheSpec parse(String text) {
    String[] parts = text.split(",", -1);
    String[] head = parts[0].split(":", 2);
    String name = head[0];
    if (DENSE.containsKey(name)) {
      if (head.length > 1 || parts.length > 1) {
        throw wrong(text, "'%s' takes no bits and no keys".formatted(name));
      }
      return new CacheSpec(text, new Dense(DENSE.get(name)));
    }
    if (!name.equals("kivi")) {
      throw wrong(text, "the method '%s' is unknown; known are %s".formatted(name, METHODS));
    }
    return new CacheSpec(text, kivi(text, head, parts));
  }

  private static Kivi kivi(String text, String[] head, String[] parts) {
    Map<String, Integer> keys = new LinkedHashMap<>();
    for (int i = 1; i < parts.length; i++) {
      String[] pair = parts[i].split("=", 2);
      if (pair.length < 2 || !KIVI_KEYS.contains(pair[0])) {
        throw wrong(
            text, "'%s' is no key=value of kivi; its keys are %s".formatted(parts[i], KIVI_KEYS));
      }
      if (keys.put(pair[0], number(text, pair[0], pair[1])) != null) {
        throw wrong(text, "'%s' is given twice".formatted(pair[0]));
      }
    }
    if (head.length < 2 && !(keys.containsKey("k") && keys.containsKey("v"))) {
      throw wrong(text, "'kivi' needs its bits, as in kivi:4; possible are %s".formatted(BITS));
    }
    int bits = head.length < 2 ? 0 : oneOf(text, "bits", number(text, "bits", head[1]), BITS);
    return new Kivi(
        oneOf(text, "k", keys.getOrDefault("k", bits), BITS),
        oneOf(text, "v", keys.getOrDefault("v", bits), BITS),
        oneOf(text, "group", keys.getOrDefault("group", 128), GROUPS),
        tokens(text, "window", keys.getOrDefault("window", 128)),
        tokens(text, "sinks", keys.getOrDefault("sinks", 0)));
  }

  private static int number(String text, String key, String value) {
    try {
      return Integer.parseInt(value);
    } catch (NumberFormatException e) {
      throw wrong(text, "%s is '%s'; expected a whole number".formatted(key, value));
    }
  }

  private static int oneOf(String text, String key, int value, Set<Integer> possible) {
    if (!possible.contains(value)) {
      throw wrong(text, "%s is %d; possible are %s".formatted(key, value, possible));
    }
    return value;
  }

  private static int tokens(String text, String key, int value) {
    if (value < 0 || value > MOST_DENSE_TOKENS) {
      throw wrong(text, "%s is %d; expected 0 to %d".formatted(key, value, MOST_DENSE_TOKENS));
    }
    return value;
  }

  private static InvalidInputException wrong(String text, String what) {
    return new InvalidInputException("the cache '%s': %s".formatted(text, what));
  }

  public KvCache newCache(CacheShape shape) {
    return new PagedCache(shape, method.settings(shape));
  }

  /** What {@code tokens} positions will take. */
  public CacheBytes bytesFor(CacheShape shape, int tokens) {
    return PagedCache.bytesFor(shape, method.settings(shape), tokens);
  }

  @Override
  public String toString() {
    return text;
  }
}
