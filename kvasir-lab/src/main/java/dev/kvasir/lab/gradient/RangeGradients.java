package dev.kvasir.lab.gradient;

/** Gradients through queries in a range of distances only. */
record RangeGradients(
    DistanceRange range,
    float[] keys, // (tokens, kvHeads, headDim)
    float[] values) { // (tokens, kvHeads, headDim)
  static RangeGradients zero(DistanceRange range, int kvValues) {
    return new RangeGradients(range, new float[kvValues], new float[kvValues]);
  }
}
