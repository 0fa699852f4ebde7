package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;

/**
 * Sizes of latent attention. A token's key is a latent vector of {@code rank} channels and {@code
 * rotary} channels that turn, one for all query heads; its value is the latent. A query head has
 * {@code plain} channels, which a matrix of the head takes to the latent's, and {@code rotary} ones
 * that turn; another matrix of the head takes what it mixes of latents to {@code output} channels.
 *
 * @param rank channels of a latent
 * @param rotary channels of a key, and of a query head, that turn; those of a key lie at its end
 * @param plain channels of a query head that do not turn
 * @param output channels of a head's output
 * @param queryRank channels that queries are made of; 0 where that is the hidden state
 */
public record LatentConfig(int rank, int rotary, int nonRotary, int output, int queryRank) {
  /** Channels of a token's key: the latent, then what turns. */
  public int keyDim() {
    return rank + rotary;
  }

  /** Channels of a query head before it meets the latent. */
  public int headDim() {
    return nonRotary + rotary;
  }

  /** Values of a position where every head has a key and a value of its own, as models train. */
  public int unabsorbedValues(int queryHeads) {
    return queryHeads * (headDim() + output);
  }

  /** Refuses sizes that no model can have, naming the file they came from. */
  void check(String fileName) {
    atLeast(fileName, "the rank of keys and values", rank, 1);
    atLeast(fileName, "channels of a head that turn", rotary, 1);
    atLeast(fileName, "channels of a head that do not turn", nonRotary, 1);
    atLeast(fileName, "channels of a head's output", output, 1);
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

  /** The most channels that a row of a step has on its way through a layer. */
  long widest(int queryHeads) {
    return Math.max(queryRank, queryHeads * (long) Math.max(headDim(), output));
  }
}
