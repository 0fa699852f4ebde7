package dev.kvasir.lab.gradient;

/** Gradients that come back through queries at some distances alone. */
record ReachGradients(
    Distances reach,
    float[] keys, // (tokens, kvHeads, headDim)
    float[] values) { // (tokens, kvHeads, headDim)
  static ReachGradients zero(Distances reach, int kvValues) {
    return new ReachGradients(reach, new float[kvValues], new float[kvValues]);
  }
}
