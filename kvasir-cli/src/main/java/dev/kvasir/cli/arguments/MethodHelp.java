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
import java.util.function.Predicate;
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

  private static final int COLUMNS = 84;
  private static final int NAME_COLUMNS = 22;
  private static final String INDENT = "  ";
  private static final String MARGIN = INDENT + " ".repeat(NAME_COLUMNS);

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

  /** Returns the methods with their keys, then the keys that methods have in common. */
  public static String all(List<QuantizationMethod> methods) {
    List<String> lines = new ArrayList<>();
    methods.forEach(method -> lines.addAll(entry(help(method))));
    return """
    A cache is METHOD:BITS and keys of the method, as in kivi:4 or kivi:2,group=64.

    %s

    Keys of all quantized caches:
    %s\
    """
        .formatted(String.join("\n", lines), String.join("\n", sharedKeys(methods)));
  }

  /** A provider's text may lack the name that ours begin with. */
  private static String help(QuantizationMethod method) {
    String text = String.join(" ", method.help());
    return text.contains(": ") ? text : method.syntax() + ": " + text;
  }

  private static List<String> sharedKeys(List<QuantizationMethod> methods) {
    List<String> lines = new ArrayList<>();
    lines.addAll(entry("window=N: keep at least the last N tokens in 16 bits"));
    lines.addAll(entry("sinks=N: keep the first N tokens in 16 bits"));
    lines.addAll(entry("prefill=chunked|exact: quantize a prompt while it is read, or at its end"));
    lines.addAll(
        entry(
            "operands=15|8: bits to which queries and probabilities are rounded"
                + except(withoutOperandPrecision(methods))));
    lines.addAll(
        entry(
            "cold=BITS@TOKENS: save blocks that TOKENS tokens follow with fewer bits; methods"
                + " without per-sequence state"));
    lines.addAll(entry("rotary=8|16: bits of rotary channels, with latent attention"));
    if (!withPaperSettings(methods).isEmpty()) {
      lines.addAll(
          entry("as=paper: the settings of the method's paper; " + withPaperSettings(methods)));
    }
    return lines;
  }

  private static String except(String names) {
    return names.isEmpty() ? "" : "; not " + names;
  }

  private static String withoutOperandPrecision(List<QuantizationMethod> methods) {
    return names(methods, method -> quantizes(method) && !method.supportsOperandPrecision());
  }

  private static String withPaperSettings(List<QuantizationMethod> methods) {
    return names(methods, method -> method.paperSettings().isPresent());
  }

  private static String names(
      List<QuantizationMethod> methods, Predicate<QuantizationMethod> condition) {
    return methods.stream()
        .filter(condition)
        .flatMap(method -> method.names().stream())
        .collect(Collectors.joining(", "));
  }

  /**
   * Returns whether a method quantizes: all do except the one that stores floating-point numbers.
   */
  public static boolean quantizes(QuantizationMethod method) {
    return method != CacheSpec.DEFAULT.method();
  }

  /** Returns the lines of a text such as "kivi:4: k, v", with its description in a column. */
  private static List<String> entry(String text) {
    int colon = text.indexOf(": ");
    String name = text.substring(0, colon);
    List<String> lines = new ArrayList<>();
    String line = INDENT + name + " ".repeat(Math.max(0, NAME_COLUMNS - name.length()));
    if (name.length() > NAME_COLUMNS) {
      lines.add(line);
      line = MARGIN;
    }
    for (String word : text.substring(colon + 2).strip().split("\\s+")) {
      if (line.length() + 1 + word.length() > COLUMNS) {
        lines.add(line);
        line = MARGIN;
      }
      line += " " + word;
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
