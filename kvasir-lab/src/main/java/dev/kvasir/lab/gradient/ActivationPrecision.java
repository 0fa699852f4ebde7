package dev.kvasir.lab.gradient;

/** How a {@link TracedDecoder} multiplies activations with quantized weights. */
public enum ActivationPrecision {
  /** In 32-bit floats, with weights expanded to floats. */
  FLOATS,
  /**
   * Rounded to bytes in the forward pass, as the engine does, which takes a third of the time.
   * Gradients stay floats.
   */
  BYTES
}
