package dev.kvasir.codec;

import java.util.List;

/**
 * How a method comes to know of a model what it keeps in a profile.
 *
 * @param command that does it
 * @param bits that it can be done for; empty where a spec has none
 */
public record Calibration(Command command, List<Integer> bits) {
  /** Commands that fill profiles. */
  public enum Command {
    /** Follows keys, values and gradients through a text. */
    CALIBRATE,

    /** Tries settings one after another. */
    TUNE
  }

  public Calibration {
    bits = List.copyOf(bits);
  }
}
