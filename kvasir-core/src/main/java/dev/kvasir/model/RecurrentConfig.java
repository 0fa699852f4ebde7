package dev.kvasir.model;

import dev.kvasir.codec.StateShape;
import dev.kvasir.error.InvalidInputException;
import java.util.List;

/**
 * The layers of a hybrid model that carry a state from token to token instead of attending to keys
 * and values.
 *
 * @param recurrent for each layer, whether it is one of them
 * @param sizes what these layers compute
 */
public record RecurrentConfig(List<Boolean> recurrent, Sizes sizes) {
  /** The sizes of a kind of recurrent layer, the same in all of them. */
  public sealed interface Sizes permits ShortConvConfig, DeltaNetConfig, Mamba2Config {
    /** Returns the numbers of a layer's state. */
    long stateFloats();

    /** Returns the width of the widest vector that a layer computes for a row. */
    long widest();

    /** Returns what the layer is, for display. */
    String description();

    /** Checks the sizes; errors name the file they came from. */
    void check(String fileName);
  }

  public RecurrentConfig {
    recurrent = List.copyOf(recurrent);
  }

  public boolean isRecurrent(int layer) {
    return recurrent.get(layer);
  }

  /** Returns the number of recurrent layers before a layer. */
  public int countBefore(int layer) {
    int count = 0;
    for (int i = 0; i < layer; i++) {
      count += recurrent.get(i) ? 1 : 0;
    }
    return count;
  }

  /** Returns the number of recurrent layers. */
  public int count() {
    return countBefore(recurrent.size());
  }

  StateShape stateShape() {
    return new StateShape(count(), (int) sizes.stateFloats());
  }

  void check(String fileName) {
    sizes.check(fileName);
    if (count() == recurrent.size()) {
      throw new InvalidInputException(
          "%s: all of its %d layers are recurrent; at least one with attention was expected"
              .formatted(fileName, recurrent.size()));
    }
    if (sizes.stateFloats() * Float.BYTES > Integer.MAX_VALUE / Math.max(1, count())) {
      throw new InvalidInputException(
          "%s: has states of %d numbers in %d layers; expected at most %d bytes in all"
              .formatted(fileName, sizes.stateFloats(), count(), Integer.MAX_VALUE));
    }
  }
}
