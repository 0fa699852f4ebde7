package dev.kvasir.model;

import dev.kvasir.codec.StateShape;
import dev.kvasir.error.InvalidInputException;
import java.util.List;

/**
 * The layers of a hybrid model. Some carry a state from token to token instead of attending to keys
 * and values.
 *
 * @param kinds of each layer
 * @param sizes what recurrent layers compute
 */
public record RecurrentConfig(List<Kind> kinds, Sizes sizes) {
  /** What a layer consists of. */
  public enum Kind {
    /** Attention and a feed-forward part. */
    ATTENTION,
    /** A recurrent state and a feed-forward part. */
    RECURRENT,
    /** Attention alone. */
    ONLY_ATTENTION,
    /** A recurrent state alone. */
    ONLY_RECURRENT,
    /** A feed-forward part alone. */
    ONLY_FEED_FORWARD;

    boolean isRecurrent() {
      return this == RECURRENT || this == ONLY_RECURRENT;
    }

    boolean attends() {
      return this == ATTENTION || this == ONLY_ATTENTION;
    }

    boolean hasFeedForward() {
      return this != ONLY_ATTENTION && this != ONLY_RECURRENT;
    }
  }

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
    kinds = List.copyOf(kinds);
  }

  Kind kind(int layer) {
    return kinds.get(layer);
  }

  /** Returns the number of recurrent layers before a layer. */
  public int countBefore(int layer) {
    int count = 0;
    for (int i = 0; i < layer; i++) {
      count += kinds.get(i).isRecurrent() ? 1 : 0;
    }
    return count;
  }

  /** Returns the number of layers with attention before a layer. */
  int attendingBefore(int layer) {
    int count = 0;
    for (int i = 0; i < layer; i++) {
      count += kinds.get(i).attends() ? 1 : 0;
    }
    return count;
  }

  /** Returns the number of recurrent layers. */
  public int count() {
    return countBefore(kinds.size());
  }

  StateShape stateShape() {
    return new StateShape(count(), (int) sizes.stateFloats());
  }

  void check(String fileName) {
    sizes.check(fileName);
    if (attendingBefore(kinds.size()) == 0) {
      throw new InvalidInputException(
          "%s: none of its %d layers has attention; at least one was expected"
              .formatted(fileName, kinds.size()));
    }
    if (sizes.stateFloats() * Float.BYTES > Integer.MAX_VALUE / Math.max(1, count())) {
      throw new InvalidInputException(
          "%s: has states of %d numbers in %d layers; expected at most %d bytes in all"
              .formatted(fileName, sizes.stateFloats(), count(), Integer.MAX_VALUE));
    }
  }
}
