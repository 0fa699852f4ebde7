package dev.kvasir.model;

import dev.kvasir.kernel.RowKernels;

/** What opens the gates of a feed-forward part. */
public enum Activation {
  /** {@code x / (1 + exp(-x))}. */
  SILU("silu") {
    @Override
    void open(RowKernels rows, float[] gate, float[] up, int at, int count) {
      rows.gatedSilu(gate, up, at, count);
    }
  },

  /** {@code x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2}. */
  GELU("gelu_pytorch_tanh") {
    @Override
    void open(RowKernels rows, float[] gate, float[] up, int at, int count) {
      rows.gatedGelu(gate, up, at, count);
    }
  };

  private final String huggingFaceName;

  Activation(String huggingFaceName) {
    this.huggingFaceName = huggingFaceName;
  }

  /** What Hugging Face calls it. */
  String huggingFaceName() {
    return huggingFaceName;
  }

  /** {@code gate = activation(gate) * up}. */
  abstract void open(RowKernels rows, float[] gate, float[] up, int at, int count);
}
