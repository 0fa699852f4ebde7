package dev.kvasir.codec;

import java.util.List;
import java.util.Optional;

/**
 * A way to keep keys and values, as the registry lists it ({@link Methods}). All else that belongs
 * to a method lies in its package: what a spec of it means, its part of a profile, codec, pages and
 * their reader. An implementation has a public constructor without parameters.
 */
public interface QuantizationMethod {
  /** What a spec of it begins with; most have one name. */
  List<String> names();

  /** Its names as a user types them, with what must follow, as in {@code kivi:BITS}. */
  String syntax();

  /** Its keys in a few words, in lines of 46 columns at the most. */
  List<String> help();

  /** Makes a plan of a spec that begins with one of its names. */
  QuantizationConfig parse(SpecText spec);

  /** Whether it sums on packed bits, as precisely as {@code lookup=exact|fast} says. */
  default boolean supportsOperandPrecision() {
    return false;
  }

  /** What finds out what it needs to know of a model beforehand; empty where it needs nothing. */
  default Optional<Calibration> calibration() {
    return Optional.empty();
  }
}
