package dev.kvasir.kernel;

/**
 * Weights that multiply activations: {@code rows} outputs of {@code columns} inputs each. They
 * differ in how they store a value, and in what is added to a product.
 */
public sealed interface Matrix permits AdaptedMatrix, DenseMatrix, QuantizedWeights {
  int rows();

  int columns();

  /** Returns the bytes of the weights, in memory or mapped from a file. */
  long bytes();
}
