package dev.kvasir.codec;

import dev.kvasir.error.InvalidInputException;

/**
 * The size of the recurrent state of a sequence: what layers without a KV cache carry from token to
 * token.
 *
 * @param layers recurrent layers
 * @param floats numbers of a layer's state
 */
public record StateShape(int layers, int floats) {
  /** The shape of a model without recurrent layers. */
  public static final StateShape NONE = new StateShape(0, 0);

  public StateShape {
    if (layers < 0 || floats < 0) {
      throw new InvalidInputException(
          "states of %d layers with %d numbers each; expected at least 0"
              .formatted(layers, floats));
    }
  }

  /**
   * States of a sequence wherever it is: those being read and written, those of the last step, and
   * those at the begin and the end of the last prompt.
   */
  public static final int RECENT = 5;

  /** Returns the bytes of these states, the most of a sequence with a budget. */
  public long recentBytes() {
    return isEmpty() ? 0 : RECENT * bytes();
  }

  public boolean isEmpty() {
    return layers == 0 || floats == 0;
  }

  /** Returns the bytes of the states of all layers at one position. */
  public long bytes() {
    return (long) layers * floats * Float.BYTES;
  }
}
