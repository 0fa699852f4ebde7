package dev.kvasir.codec;

import dev.kvasir.spi.QuantizationMethod;
import java.util.List;
import java.util.Objects;

/**
 * The spec key {@code as=paper}, which stands for the settings of a method's paper. It is replaced
 * by them when a spec is parsed, so everything else only knows the settings: sizes, page formats,
 * stored sessions and the text of the spec. Keys that are typed beside it override them.
 */
public final class PaperPreset {
  /** The spec key. */
  public static final String KEY = "as";

  private static final String PAPER = "paper";

  private PaperPreset() {}

  /** Returns the spec with the settings in place of the key; a spec without the key as it is. */
  public static SpecText expand(SpecText typed, QuantizationMethod method) {
    if (!typed.has(KEY)) {
      return typed;
    }
    String value = Objects.requireNonNullElse(typed.value(KEY), "");
    if (!value.equals(PAPER)) {
      throw typed.invalid("%s is '%s'; possible are %s".formatted(KEY, value, PAPER));
    }
    String settings =
        method
            .paperSettings()
            .orElseThrow(
                () ->
                    typed.invalid(
                        "'%s' has no settings for %s=%s; those of %s are known"
                            .formatted(typed.name(), KEY, PAPER, methods())));
    return typed.replacing(KEY, settings);
  }

  /** Returns the names of the methods with such settings. */
  public static List<String> methods() {
    return MethodRegistry.all().stream()
        .filter(method -> method.paperSettings().isPresent())
        .flatMap(method -> method.names().stream())
        .toList();
  }
}
