package dev.kvasir.codec;

import java.util.List;

/**
 * How a method obtains the profile part it needs.
 *
 * @param command the command that creates it
 * @param bits the supported bit widths; empty if a spec has none
 */
public record Calibration(Command command, List<Integer> bits) {
  /** Commands that write profiles. */
  public enum Command {
    /** Collects keys, values and gradients over a text. */
    CALIBRATE,

    /** Evaluates candidate settings one after another. */
    TUNE
  }

  public Calibration {
    bits = List.copyOf(bits);
  }
}
