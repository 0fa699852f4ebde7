package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;

/**
 * Sizes of multi-head latent attention. A token's key is a latent vector of {@code rank} channels
 * plus {@code rotary} channels, shared by all query heads; its value is the latent. A query head
 * has {@code nonRotary} channels, which a matrix of the head projects to the latent, and {@code
 * rotary} channels. Another matrix of the head projects its attention output to {@code output}
 * channels.
 *
 * @param rank channels of a latent
 * @param rotary rotary channels of a query head and of a key, where they come last
 * @param nonRotary query head channels without RoPE
 * @param output channels of a head's output
 * @param queryRank channels of the query latent; 0 if queries come from the hidden state
 * @param normEpsilon epsilon of the norms of latents
 */
public record LatentConfig(
    int rank, int rotary, int nonRotary, int output, int queryRank, float normEpsilon) {
  /** Returns the channels of a token's key: the latent, then the rotary channels. */
  public int keyDim() {
    return rank + rotary;
  }

  /** Returns the channels of a query head before projection to the latent. */
  public int headDim() {
    return nonRotary + rotary;
  }

  /**
   * Returns the cached values per position if every head had its own key and value, as in training.
   */
  public int unabsorbedValues(int queryHeads) {
    return queryHeads * (headDim() + output);
  }

  /** Checks the sizes; errors name the file they came from. */
  void check(String fileName) {
    atLeast(fileName, "the rank of keys and values", rank, 1);
    atLeast(fileName, "the number of rotary channels of a head", rotary, 1);
    atLeast(fileName, "the number of non-rotary channels of a head", nonRotary, 1);
    atLeast(fileName, "the number of output channels of a head", output, 1);
    atLeast(fileName, "the rank of queries", queryRank, 0);
    long widest = Math.max((long) nonRotary + rotary, (long) rank + rotary);
    long largest = Math.max((long) nonRotary + rotary, output) * (long) rank;
    if (Math.max(widest, largest) > Integer.MAX_VALUE) {
      throw new InvalidInputException(
          "%s: has latents of %d channels and heads of %d and %d; expected at most %d weights a head"
              .formatted(fileName, rank, nonRotary + (long) rotary, output, Integer.MAX_VALUE));
    }
  }

  private static void atLeast(String fileName, String what, int value, int least) {
    if (value < least) {
      throw new InvalidInputException(
          "%s: %s is %d; expected at least %d".formatted(fileName, what, value, least));
    }
  }

  /** Returns the width of a row's widest vector in a layer. */
  long widest(int queryHeads) {
    return Math.max(queryRank, queryHeads * (long) Math.max(headDim(), output));
  }
}
