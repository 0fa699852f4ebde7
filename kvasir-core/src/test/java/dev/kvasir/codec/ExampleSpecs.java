package dev.kvasir.codec;

import dev.kvasir.spi.QuantizationMethod;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Specs for tests, from the examples of every registered method. */
public final class ExampleSpecs {
  private static final boolean THOROUGH = Boolean.getBoolean("kvasir.thorough");
  private static final Pattern BUDGET_IN_BYTES = Pattern.compile("budget=\\d+[KM]iB");

  private ExampleSpecs() {}

  /**
   * Returns the first of the given specs of each method, or all of them with {@code
   * -Dkvasir.thorough=true}, and one example of each method that none of them names.
   */
  public static Stream<String> withEveryMethod(String... specs) {
    Set<QuantizationMethod> named = new HashSet<>();
    List<String> firstOfEach =
        Stream.of(specs).filter(spec -> named.add(method(spec)) || THOROUGH).toList();
    return Stream.concat(
        firstOfEach.stream(),
        MethodRegistry.all().stream()
            .filter(method -> !named.contains(method))
            .map(method -> method.examples().getFirst().spec()));
  }

  /** Returns a spec with a residual window that is short enough for a test, where it has one. */
  public static String withWindow(String spec, int tokens) {
    boolean isDense = method(spec).names().contains("fp16");
    return isDense || spec.contains("window=") ? spec : spec + ",window=" + tokens;
  }

  /** Whether a spec fits heads of any shape: a budget in bytes is made for one. */
  public static boolean fitsAnyShape(MethodExample example) {
    return !BUDGET_IN_BYTES.matcher(example.spec()).find();
  }

  public static QuantizationMethod method(String spec) {
    return MethodRegistry.of(new SpecText(spec));
  }
}
