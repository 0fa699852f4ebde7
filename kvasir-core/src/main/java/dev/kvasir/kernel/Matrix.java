package dev.kvasir.kernel;

/**
 * Weights that multiply activations: {@code rows} outputs of {@code columns} inputs each. The two
 * kinds differ in where the bits of a value lie, and in nothing else.
 */
public sealed interface Matrix permits DenseMatrix, QuantizedWeights {
  int rows();

  int columns();

  /** Bytes that the weights take, on or off the file. */
  long bytes();
}
