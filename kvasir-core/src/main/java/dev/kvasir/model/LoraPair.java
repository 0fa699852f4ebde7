package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.Tensor;

/**
 * The factors of a low-rank adapter for one matrix.
 *
 * @param tensor the matrix, by a name of the adapter's format or of the model
 * @param down the first factor // (rank, columns)
 * @param up the second factor, which contains all scales // (rows, rank)
 */
record LoraPair(String tensor, int rank, int columns, int rows, float[] down, float[] up) {
  /**
   * Reads two tensors.
   *
   * @param file that they are from, for messages
   * @param factor multiplies the second
   */
  static LoraPair of(String file, String tensor, Tensor down, Tensor up, double factor) {
    requireMatrix(file, down);
    requireMatrix(file, up);
    int rank = (int) down.shape()[0];
    if (up.shape()[1] != rank) {
      throw new InvalidInputException(
          "%s: tensor '%s' has shape %s; expected %d columns"
              .formatted(file, up.name(), up.shapeText(), rank));
    }
    float[] scaled = up.toFloats();
    for (int i = 0; i < scaled.length; i++) {
      scaled[i] *= (float) factor;
    }
    return new LoraPair(
        tensor, rank, (int) down.shape()[1], (int) up.shape()[0], down.toFloats(), scaled);
  }

  private static void requireMatrix(String file, Tensor tensor) {
    if (tensor.shape().length != 2) {
      throw new InvalidInputException(
          "%s: tensor '%s' has shape %s; expected a matrix"
              .formatted(file, tensor.name(), tensor.shapeText()));
    }
  }

  LoraPair renamed(String other) {
    return new LoraPair(other, rank, columns, rows, down, up);
  }

  /**
   * Returns the rows of each head in the order that conversion to GGUF gives them: one of each half
   * in turn.
   */
  LoraPair withNeighbouringHalves(int headDim) {
    float[] reordered = new float[up.length];
    for (int row = 0; row < rows; row++) {
      int channel = row % headDim;
      int from = row - channel + channel / 2 + channel % 2 * (headDim / 2);
      System.arraycopy(up, from * rank, reordered, row * rank, rank);
    }
    return new LoraPair(tensor, rank, columns, rows, down, reordered);
  }
}
