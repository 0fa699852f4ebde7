package dev.kvasir.codec;

import java.util.List;

/**
 * How a method obtains the profile part it needs.
 *
 * @param command the command that creates it
 * @param bits the supported bit widths; empty if a spec has none
 * @param variants keys with values, such as {@code values=encoder}, that need a part of their own
 */
public record Calibration(Command command, List<Integer> bits, List<String> variants) {
  /** Commands that write profiles. */
  public enum Command {
    /** Collects keys, values and gradients over a text. */
    CALIBRATE,

    /** Evaluates candidate settings one after another. */
    TUNE
  }

  public Calibration {
    bits = List.copyOf(bits);
    variants = List.copyOf(variants);
  }

  /** Creates a calibration that serves all specs of a width. */
  public Calibration(Command command, List<Integer> bits) {
    this(command, bits, List.of());
  }
}
