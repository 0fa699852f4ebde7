package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;

/**
 * Sizes of a gated delta net, as in Qwen3-Next and Qwen 3.5.
 *
 * @param taps tokens that an output of its convolution depends on
 * @param keyHeads heads of queries and keys; several value heads share one
 * @param keyDim channels of a query or key head
 * @param valueDim channels of a value head
 * @param valueHeadsGrouped whether value heads of the same key head are next to each other;
 *     otherwise the key heads repeat
 */
public record DeltaNetConfig(
    int taps, int keyHeads, int valueHeads, int keyDim, int valueDim, boolean valueHeadsGrouped)
    implements RecurrentConfig.Sizes {
  /** Returns the channels of the convolution: queries, keys, then values. */
  public int convolved() {
    return 2 * keyChannels() + valueChannels();
  }

  int keyChannels() {
    return keyHeads * keyDim;
  }

  int valueChannels() {
    return valueHeads * valueDim;
  }

  int valueHeadsPerKey() {
    return valueHeads / keyHeads;
  }

  /** Returns the key head of a value head. */
  int keyHead(int valueHead) {
    return valueHeadsGrouped ? valueHead / valueHeadsPerKey() : valueHead % keyHeads;
  }

  /** Returns where the matrices of the heads begin in a layer's state, behind the convolution's. */
  int matricesAt() {
    return (taps - 1) * convolved();
  }

  /** Returns the numbers of a head's matrix. */
  int matrixFloats() {
    return keyDim * valueDim;
  }

  @Override
  public long stateFloats() {
    return (taps - 1L) * convolved() + (long) valueHeads * keyDim * valueDim;
  }

  @Override
  public long widest() {
    return 2L * keyChannels() + 2L * valueChannels();
  }

  @Override
  public String description() {
    return "gated delta nets of %d heads with %d x %d numbers"
        .formatted(valueHeads, keyDim, valueDim);
  }

  @Override
  public void check(String fileName) {
    if (taps < 2 || taps > 64) {
      throw new InvalidInputException(
          "%s: convolutions have %d taps; expected 2 to 64".formatted(fileName, taps));
    }
    if (keyHeads < 1 || valueHeads < 1 || valueHeads % keyHeads != 0) {
      throw new InvalidInputException(
          "%s: delta nets have %d value heads; expected a multiple of their %d key heads"
              .formatted(fileName, valueHeads, keyHeads));
    }
    if (keyDim < 1 || valueDim < 1 || (long) keyDim * valueDim > 1 << 24) {
      throw new InvalidInputException(
          "%s: a head of a delta net has %d x %d numbers; expected 1 to %d in all"
              .formatted(fileName, keyDim, valueDim, 1 << 24));
    }
    long channels = 2L * keyHeads * keyDim + 2L * valueHeads * valueDim;
    if (channels > Integer.MAX_VALUE / 128) {
      throw new InvalidInputException(
          "%s: delta nets have vectors of %d channels; expected at most %d"
              .formatted(fileName, channels, Integer.MAX_VALUE / 128));
    }
  }
}
