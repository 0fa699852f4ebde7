package dev.kvasir.codec;

import java.util.List;
import java.util.function.Function;

/**
 * A method with a single name followed by a bit width, as in {@code kivi:2}. Most methods have this
 * form.
 */
public abstract class BitWidthMethod implements QuantizationMethod {
  private final String name;
  private final MethodFamily family;
  private final Function<SpecText, QuantizationConfig> plan;
  private final List<String> help;

  /**
   * Creates a method.
   *
   * @param name the part of a spec before the colon
   * @param family value of {@link #family}
   * @param parse creates the configuration for a spec with this name
   * @param help lines of {@link #help}
   */
  protected BitWidthMethod(
      String name,
      MethodFamily family,
      Function<SpecText, QuantizationConfig> parse,
      String... help) {
    this.name = name;
    this.family = family;
    this.plan = parse;
    this.help = List.of(help);
  }

  @Override
  public final List<String> names() {
    return List.of(name);
  }

  @Override
  public final String syntax() {
    return name + ":BITS";
  }

  @Override
  public final MethodFamily family() {
    return family;
  }

  @Override
  public final List<String> help() {
    return help;
  }

  @Override
  public final QuantizationConfig parse(SpecText spec) {
    return plan.apply(spec);
  }
}
