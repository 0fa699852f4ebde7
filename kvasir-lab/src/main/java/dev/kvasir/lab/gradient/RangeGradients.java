package dev.kvasir.lab.gradient;

/** Gradients that come back through queries at some distances alone. */
record RangeGradients(
    DistanceRange range,
    float[] keys, // (tokens, kvHeads, headDim)
    float[] values) { // (tokens, kvHeads, headDim)
  static RangeGradients zero(DistanceRange range, int kvValues) {
    return new RangeGradients(range, new float[kvValues], new float[kvValues]);
  }
}
