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
 * A method to calibrate and its bits, without spec keys that do not matter for it.
 *
 * @param method as typed
 * @param bits 0 for a method without a width
 * @param variant the key and value that need a calibration of their own; empty if there is none
 */
record CalibratedCache(String method, int bits, String variant) {
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
    return calibration(method).stream()
        .flatMap(how -> method.names().stream().flatMap(name -> of(name, how)));
  }

  private static Stream<CalibratedCache> of(String name, Calibration how) {
    List<Integer> widths = how.bits().isEmpty() ? List.of(0) : how.bits();
    return Stream.concat(Stream.of(""), how.variants().stream())
        .flatMap(variant -> widths.stream().map(bits -> new CalibratedCache(name, bits, variant)));
  }

  /** Returns how a method is calibrated; empty if this command does not do it. */
  private static Optional<Calibration> calibration(QuantizationMethod method) {
    return method
        .calibration()
        .filter(how -> how.command() == Calibration.Command.CALIBRATE);
  }

  private static String known() {
    return MethodRegistry.all().stream()
        .flatMap(method -> calibration(method).map(how -> known(method, how)).stream())
        .collect(Collectors.joining(", "));
  }

  private static String known(QuantizationMethod method, Calibration how) {
    String plain =
        how.bits().isEmpty()
            ? String.join(" or ", method.names())
            : "%s with %s".formatted(method.syntax(), how.bits());
    return how.variants().isEmpty()
        ? plain
        : "%s and optionally ',%s'".formatted(plain, String.join("' or ',", how.variants()));
  }

  @Override
  public String toString() {
    String plain = bits == 0 ? method : method + ":" + bits;
    return variant.isEmpty() ? plain : plain + "," + variant;
  }
}
