package dev.kvasir.model;

import dev.kvasir.kernel.Kernels;

/** What happens to the query and key heads of a token before they are rotated. */
public sealed interface HeadNorm {
  void apply(Kernels kernels, float[] x, int at, int heads, int headDim);

  long bytes();

  /** Heads are left as they are. */
  record None() implements HeadNorm {
    @Override
    public void apply(Kernels kernels, float[] x, int at, int heads, int headDim) {}

    @Override
    public long bytes() {
      return 0;
    }
  }

  /** As many channels as there are weights divided by their own root mean square. */
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
