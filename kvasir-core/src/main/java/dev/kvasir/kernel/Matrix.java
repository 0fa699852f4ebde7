package dev.kvasir.kernel;

/**
 * Weights that multiply activations: {@code rows} outputs of {@code columns} inputs each. The two
 * kinds differ only in how they store a value.
 */
public sealed interface Matrix permits DenseMatrix, QuantizedWeights {
  int rows();

  int columns();

  /** Returns the bytes of the weights, in memory or mapped from a file. */
  long bytes();
}
