package dev.kvasir.model;

import dev.kvasir.kernel.Kernels;

/** What happens to each query and key head before it is rotated. */
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

  /** Each head divided by its own root mean square, as in Qwen 3. */
  record RootMeanSquare(float[] weight, float epsilon) implements HeadNorm {
    @Override
    public void apply(Kernels kernels, float[] x, int at, int heads, int headDim) {
      for (int head = 0; head < heads; head++) {
        int headAt = at + head * headDim;
        kernels.rows().rmsNorm(x, headAt, weight, epsilon, x, headAt, headDim);
      }
    }

    @Override
    public long bytes() {
      return (long) weight.length * Float.BYTES;
    }
  }
}
