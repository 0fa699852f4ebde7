package dev.kvasir.cli.arguments;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.Calibration;
import dev.kvasir.codec.Calibration.Command;
import dev.kvasir.codec.MethodRegistry;
import dev.kvasir.spi.QuantizationMethod;
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
 * Help texts about the registered quantization methods. Annotations can only hold constants, so
 * they hold keys of this resource bundle.
 */
public final class MethodHelp extends ResourceBundle {
  /** How a cache is typed. */
  public static final String SPEC =
      "The KV cache: fp16, or METHOD:BITS and keys of the method, as in kivi:4 or kivi:2,group=64."
          + " 'kvasir caches' lists all methods and keys.";

  /** The same, for commands that can choose a cache. */
  public static final String SPEC_OR_AUTO =
      "The KV cache: auto, fp16, or METHOD:BITS and keys of the method, as in kivi:4 or"
          + " kivi:2,group=64. auto takes fp16 if it fits in memory, else the best cache that fits."
          + " 'kvasir caches' lists all methods and keys.";

  /** The methods that {@code kvasir calibrate} supports. */
  public static final String CALIBRATED = "${bundle:methods.calibrated}";

  private static final int COLUMNS = 46;
  private static final String INDENT = "  ";

  // No option has such a name: picocli would use the text as its description.
  private final Map<String, Supplier<String>> texts =
      Map.of("methods.calibrated", () -> calibrated(MethodRegistry.all()));

  @Override
  protected Object handleGetObject(String key) {
    Supplier<String> text = texts.get(key);
    return text == null ? null : text.get();
  }

  @Override
  public Enumeration<String> getKeys() {
    return Collections.enumeration(texts.keySet());
  }

  /** Avoids creating the texts, which the inherited method would do. */
  @Override
  protected Set<String> handleKeySet() {
    return texts.keySet();
  }

  /** Returns the methods with their keys, in lines of about 50 columns. */
  public static String all(List<QuantizationMethod> methods) {
    List<String> lines = new ArrayList<>();
    methods.forEach(method -> lines.addAll(method.help()));
    lines.addAll(wrapped(sharedKeys(methods)));
    return """
        KV cache format: METHOD:BITS, and keys of the
          method, as in kivi:2,group=64.
        """
        + lines.stream().map(line -> INDENT + line).collect(Collectors.joining("\n"));
  }

  private static String sharedKeys(List<QuantizationMethod> methods) {
    String others =
        methods.stream()
            .filter(method -> quantizes(method) && !method.supportsOperandPrecision())
            .flatMap(method -> method.names().stream())
            .collect(Collectors.joining(", "));
    return ("All quantized formats: window, sinks (tokens), prefill (chunked|exact); with latent"
            + " attention rotary (8|16 bits). All without state of a sequence: cold (BITS@TOKENS"
            + " that follow). All%s: operands (15|8 bits).%s")
        .formatted(others.isEmpty() ? "" : " but " + others, presets(methods));
  }

  private static String presets(List<QuantizationMethod> methods) {
    String names =
        methods.stream()
            .filter(method -> method.paperSettings().isPresent())
            .flatMap(method -> method.names().stream())
            .collect(Collectors.joining(", "));
    return names.isEmpty() ? "" : " Settings of the paper: as=paper (%s).".formatted(names);
  }

  /**
   * Returns whether a method quantizes: all do except the one that stores floating-point numbers.
   */
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
        .flatMap(method -> method.calibration().map(how -> calibrated(method, how)).stream())
        .filter(typed -> !typed.isEmpty())
        .collect(Collectors.joining(" or "));
  }

  /** Returns how a method is typed for calibration; empty if another command does it. */
  private static String calibrated(QuantizationMethod method, Calibration how) {
    if (how.command() != Command.CALIBRATE) {
      return "";
    }
    return how.bits().isEmpty() ? method.names().getFirst() : method.syntax();
  }
}
