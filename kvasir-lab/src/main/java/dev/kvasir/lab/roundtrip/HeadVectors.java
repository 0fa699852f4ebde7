package dev.kvasir.lab.roundtrip;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.Tensor;

/**
 * Memory-mapped vectors of several heads at consecutive positions.
 *
 * @param tensor 32-bit floats: (heads, tokens, headDim)
 */
public record HeadVectors(Tensor tensor) {
  // Far above any model, and low enough that the sizes of a block fit an int.
  private static final int MAX_HEADS = 1 << 10;
  private static final int MAX_TOKENS = 1 << 24;
  private static final int MAX_CHANNELS = 1 << 10;

  public HeadVectors {
    long[] shape = tensor.shape();
    if (shape.length != 3) {
      throw new InvalidInputException(
          "%s: has shape %s; expected 3 dimensions: heads x tokens x channels%s"
              .formatted(tensor.name(), tensor.shapeText(), batchAdvice(shape)));
    }
    check(tensor, "heads", shape[0], 1, MAX_HEADS);
    check(tensor, "tokens", shape[1], 0, MAX_TOKENS);
    check(tensor, "channels", shape[2], 1, MAX_CHANNELS);
  }

  /** Arrays dumped from models often have a leading batch dimension. */
  private static String batchAdvice(long[] shape) {
    return shape.length == 4 && shape[0] == 1 ? ", which array[0] has" : "";
  }

  private static void check(Tensor tensor, String what, long count, int least, int most) {
    if (count < least || count > most) {
      throw new InvalidInputException(
          "%s: has %d %s in its shape %s; expected %d to %d"
              .formatted(tensor.name(), count, what, tensor.shapeText(), least, most));
    }
  }

  String name() {
    return tensor.name();
  }

  String shapeText() {
    return tensor.shapeText();
  }

  public int heads() {
    return (int) tensor.shape()[0];
  }

  public int tokens() {
    return (int) tensor.shape()[1];
  }

  public int headDim() {
    return (int) tensor.shape()[2];
  }

  /** Returns the index, in C order, of a vector's first channel. */
  long index(int head, int token) {
    return ((long) head * tokens() + token) * headDim();
  }

  /** Reads {@code count} consecutive vectors of a head: (count, headDim). */
  void read(int head, int token, int count, float[] out, int at) {
    long offset = Float.BYTES * index(head, token);
    tensor.type().decode(tensor.data(), offset, (long) count * headDim(), out, at);
  }

  /** Reads a token's vectors of all heads: (heads, headDim). */
  void readToken(int token, float[] out) {
    for (int head = 0; head < heads(); head++) {
      read(head, token, 1, out, head * headDim());
    }
  }
}
