package dev.kvasir.model;

import dev.kvasir.kernel.Kernels;

/** Normalization of a token's query or key heads before RoPE. */
public sealed interface HeadNorm {
  void apply(Kernels kernels, float[] x, int at, int heads, int headDim);

  long bytes();

  /** No normalization. */
  record None() implements HeadNorm {
    @Override
    public void apply(Kernels kernels, float[] x, int at, int heads, int headDim) {}

    @Override
    public long bytes() {
      return 0;
    }
  }

  /** RMS norm over as many channels as there are weights. */
  record RootMeanSquare(float[] weight, float epsilon) implements HeadNorm {
    @Override
    public void apply(Kernels kernels, float[] x, int at, int heads, int headDim) {
      int end = at + heads * headDim;
      for (int from = at; from < end; from += weight.length) {
        kernels.rows().rmsNorm(x, from, weight, epsilon, x, from, weight.length);
      }
    }

    @Override
    public long bytes() {
      return (long) weight.length * Float.BYTES;
    }
  }
}
