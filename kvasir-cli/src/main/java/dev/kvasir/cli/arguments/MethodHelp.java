package dev.kvasir.cli.arguments;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.Calibration.Command;
import dev.kvasir.codec.MethodRegistry;
import dev.kvasir.codec.QuantizationMethod;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Map;
import java.util.ResourceBundle;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * What help says of the methods in the registry. Annotations hold constants only, so they hold the
 * name of a text, and this bundle has the text.
 */
public final class MethodHelp extends ResourceBundle {
  /** All methods with their keys, in lines that fit beside an option in 80 columns. */
  public static final String ALL = "${bundle:methods.all}";

  /** What {@code kvasir calibrate} can be asked for. */
  public static final String CALIBRATED = "${bundle:methods.calibrated}";

  private static final int COLUMNS = 46;
  private static final String INDENT = "  ";

  // No option is called like these: picocli takes a text by an option's name for its description.
  private final Map<String, Supplier<String>> texts =
      Map.of(
          "methods.all", () -> all(MethodRegistry.all()),
          "methods.calibrated", () -> calibrated(MethodRegistry.all()));

  @Override
  protected Object handleGetObject(String key) {
    Supplier<String> text = texts.get(key);
    return text == null ? null : text.get();
  }

  @Override
  public Enumeration<String> getKeys() {
    return Collections.enumeration(texts.keySet());
  }

  /** Without making the texts, as the inherited method would. */
  @Override
  protected Set<String> handleKeySet() {
    return texts.keySet();
  }

  static String all(List<QuantizationMethod> methods) {
    List<String> lines = new ArrayList<>();
    methods.forEach(method -> lines.addAll(method.help()));
    lines.addAll(wrapped(sharedKeys(methods)));
    return """
        How keys and values are kept: METHOD:BITS, and
          keys of the method, as in kivi:2,group=64.
        """
        + lines.stream().map(line -> INDENT + line).collect(Collectors.joining("\n"));
  }

  private static String sharedKeys(List<QuantizationMethod> methods) {
    String others =
        methods.stream()
            .filter(method -> quantizes(method) && !method.supportsOperandPrecision())
            .flatMap(method -> method.names().stream())
            .collect(Collectors.joining(", "));
    return ("All that pack: window, sinks (tokens), and of latents rotary (8|16 bits)."
            + " All that keep nothing of a text: stored (BITS@TOKENS that follow)."
            + " All of these%s: lookup (exact|fast).")
        .formatted(others.isEmpty() ? "" : " but " + others);
  }

  /** Whether a method packs: all do, but the one that keeps floating-point numbers. */
  public static boolean quantizes(QuantizationMethod method) {
    return method != CacheSpec.DEFAULT.method();
  }

  private static List<String> wrapped(String text) {
    List<String> lines = new ArrayList<>();
    String line = "";
    for (String word : text.split(" ")) {
      if (!line.isEmpty() && line.length() + 1 + word.length() > COLUMNS) {
        lines.add(line);
        line = INDENT + word;
      } else {
        line = line.isEmpty() ? word : line + " " + word;
      }
    }
    lines.add(line);
    return lines;
  }

  static String calibrated(List<QuantizationMethod> methods) {
    return methods.stream()
        .filter(
            method ->
                method.calibration().filter(how -> how.command() == Command.CALIBRATE).isPresent())
        .map(QuantizationMethod::syntax)
        .collect(Collectors.joining(" or "));
  }
}
