package dev.kvasir.spi;

import dev.kvasir.codec.Calibration;
import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.MethodFamily;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import java.util.List;
import java.util.Optional;

/**
 * A method to store keys and values, as listed by {@link dev.kvasir.codec.MethodRegistry}.
 * Everything else about a method is in its package: configuration, profile part, codec, pages and
 * reader. An implementation has a public constructor without parameters.
 */
public interface QuantizationMethod {
  /** Returns the names that a spec may start with. Most methods have one. */
  List<String> names();

  /** Returns its names as typed, with what must follow, as in {@code kivi:BITS}. */
  String syntax();

  /**
   * Returns a short description of its keys, in lines of at most 46 columns: as it is typed, a
   * colon and the keys, as in {@code kivi:BITS: group, k}. Without a colon, {@link #syntax}
   * precedes it.
   */
  List<String> help();

  /** Parses a spec that starts with one of its names. */
  QuantizationConfig parse(SpecText spec);

  /** Returns specs that cover its options, the plainest first; tests run all of them. */
  List<MethodExample> examples();

  /**
   * Returns whether it computes on quantized pages with the precision given by {@code
   * operands=15|8}.
   */
  default boolean supportsOperandPrecision() {
    return false;
  }

  /**
   * Returns the settings of its paper where they are not the defaults or decide results, as typed:
   * {@code group=32,window=0}. A user writes {@code as=paper} for them. Empty if there are none to
   * offer.
   */
  default Optional<String> paperSettings() {
    return Optional.empty();
  }

  /** Returns the group of related methods that reports show it with. */
  default MethodFamily family() {
    return MethodFamily.OTHER;
  }

  /** Returns how its profile part is created; empty if it needs none. */
  default Optional<Calibration> calibration() {
    return Optional.empty();
  }
}
