package dev.kvasir.cli.lab;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.Calibration;
import dev.kvasir.codec.MethodRegistry;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.spi.QuantizationMethod;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A method to calibrate and its bits, without spec keys.
 *
 * @param method as typed
 * @param bits 0 for a method without a width
 */
record CalibratedCache(String method, int bits) {
  static CalibratedCache parse(String typed) {
    return possible()
        .filter(one -> one.toString().equals(typed) || one.servesAnyWidth(typed))
        .findFirst()
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "--kv is '%s'; what can be calibrated is %s".formatted(typed, known())));
  }

  /**
   * Returns whether a spec with a width stands for this method, whose calibration serves all of
   * them: {@code mead:2} for {@code mead}.
   */
  private boolean servesAnyWidth(String typed) {
    return bits == 0 && typed.matches(Pattern.quote(method) + ":[^,]+") && isSpec(typed);
  }

  private static boolean isSpec(String typed) {
    try {
      CacheSpec.parse(typed);
      return true;
    } catch (InvalidInputException e) {
      return false;
    }
  }

  /** Returns all combinations that the registered methods support. */
  static Stream<CalibratedCache> possible() {
    return MethodRegistry.all().stream().flatMap(CalibratedCache::of);
  }

  private static Stream<CalibratedCache> of(QuantizationMethod method) {
    return bits(method).stream()
        .flatMap(widths -> method.names().stream().flatMap(name -> of(name, widths)));
  }

  private static Stream<CalibratedCache> of(String name, List<Integer> widths) {
    return widths.isEmpty()
        ? Stream.of(new CalibratedCache(name, 0))
        : widths.stream().map(bits -> new CalibratedCache(name, bits));
  }

  /**
   * Returns the widths that a method can be calibrated for; empty if this command does not do it.
   */
  private static Optional<List<Integer>> bits(QuantizationMethod method) {
    return method
        .calibration()
        .filter(how -> how.command() == Calibration.Command.CALIBRATE)
        .map(Calibration::bits);
  }

  private static String known() {
    return MethodRegistry.all().stream()
        .flatMap(method -> bits(method).map(widths -> known(method, widths)).stream())
        .collect(Collectors.joining(", "));
  }

  private static String known(QuantizationMethod method, List<Integer> widths) {
    return widths.isEmpty()
        ? String.join(" or ", method.names())
        : "%s with %s".formatted(method.syntax(), widths);
  }

  @Override
  public String toString() {
    return bits == 0 ? method : method + ":" + bits;
  }
}
