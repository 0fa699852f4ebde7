package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;

/**
 * Sizes of a Mamba-2 layer.
 *
 * @param taps tokens that an output of its convolution depends on
 * @param heads heads of the state space
 * @param headDim channels of a head
 * @param groups groups of heads with the same input and output vectors
 * @param stateDim length of these vectors
 * @param shortestStep lower limit of a token's step size
 * @param longestStep its upper limit, perhaps infinite
 */
public record Mamba2Config(
    int taps,
    int heads,
    int headDim,
    int groups,
    int stateDim,
    double shortestStep,
    double longestStep)
    implements RecurrentConfig.Sizes {
  /** Returns the channels of all heads. */
  public int inner() {
    return heads * headDim;
  }

  /** Returns the channels of the convolution: heads, then the input and output vectors. */
  int convolved() {
    return inner() + 2 * groups * stateDim;
  }

  /** Returns the rows of the input projection: gates, what is convolved, and step sizes. */
  int projected() {
    return inner() + convolved() + heads;
  }

  /** Returns the group of a head. */
  int group(int head) {
    return head / (heads / groups);
  }

  /** Returns where the matrices of the heads begin in a layer's state, behind the convolution's. */
  int matricesAt() {
    return (taps - 1) * convolved();
  }

  /** Returns the numbers of a head's matrix. */
  int matrixFloats() {
    return stateDim * headDim;
  }

  @Override
  public long stateFloats() {
    return (taps - 1L) * convolved() + (long) heads * stateDim * headDim;
  }

  @Override
  public long widest() {
    return projected();
  }

  @Override
  public String description() {
    return "Mamba-2 with %d heads of %d x %d numbers".formatted(heads, stateDim, headDim);
  }

  @Override
  public void check(String fileName) {
    if (taps < 2 || taps > 64) {
      throw new InvalidInputException(
          "%s: convolutions have %d taps; expected 2 to 64".formatted(fileName, taps));
    }
    if (heads < 1 || groups < 1 || heads % groups != 0) {
      throw new InvalidInputException(
          "%s: has %d Mamba heads; expected a multiple of their %d groups"
              .formatted(fileName, heads, groups));
    }
    if (headDim < 1 || stateDim < 1 || (long) headDim * stateDim > 1 << 24) {
      throw new InvalidInputException(
          "%s: a Mamba head has %d x %d numbers; expected 1 to %d in all"
              .formatted(fileName, stateDim, headDim, 1 << 24));
    }
    if (!(shortestStep >= 0 && shortestStep <= longestStep)) {
      throw new InvalidInputException(
          "%s: step sizes of Mamba layers are limited to %s to %s; expected limits in order, from 0 on"
              .formatted(fileName, shortestStep, longestStep));
    }
    long channels = 2L * heads * headDim + 2L * groups * stateDim + heads;
    if (channels > Integer.MAX_VALUE / 128) {
      throw new InvalidInputException(
          "%s: Mamba layers have vectors of %d channels; expected at most %d"
              .formatted(fileName, channels, Integer.MAX_VALUE / 128));
    }
  }
}
