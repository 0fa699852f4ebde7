package dev.kvasir.cli.lab;

import dev.kvasir.codec.Calibration;
import dev.kvasir.codec.MethodRegistry;
import dev.kvasir.codec.QuantizationMethod;
import dev.kvasir.error.InvalidInputException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The kind of cache that is to be calibrated for: a method and its bits, without any keys.
 *
 * @param method by the name that was typed
 * @param bits 0 for a method without any
 */
record CalibratedCache(String method, int bits) {
  static CalibratedCache parse(String typed) {
    return possible()
        .filter(one -> one.toString().equals(typed))
        .findFirst()
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "--kv is '%s'; what can be calibrated is %s".formatted(typed, known())));
  }

  /** Every kind that the registry has for this command. */
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

  /** Widths that a method can be calibrated for; empty where this command does not do it. */
  private static Optional<List<Integer>> bits(QuantizationMethod method) {
    return method
        .calibration()
        .filter(how -> how.command() == Calibration.Command.CALIBRATE)
        .map(Calibration::bits);
  }

  private static String known() {
    return MethodRegistry.all().stream()
        .flatMap(method -> bits(method).map(widths -> known(method, widths)).stream())
        .collect(Collectors.joining(" and "));
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
