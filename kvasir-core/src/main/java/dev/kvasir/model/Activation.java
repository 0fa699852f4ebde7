package dev.kvasir.model;

import dev.kvasir.kernel.RowKernels;

/** Activation functions of gated feed-forward layers. */
public enum Activation {
  /** {@code x / (1 + exp(-x))}. */
  SILU("silu") {
    @Override
    public void applyGate(RowKernels rows, float[] gate, float[] up, int at, int count) {
      rows.gatedSilu(gate, up, at, count);
    }
  },

  /** {@code x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2}. */
  GELU("gelu_pytorch_tanh") {
    @Override
    public void applyGate(RowKernels rows, float[] gate, float[] up, int at, int count) {
      rows.gatedGelu(gate, up, at, count);
    }
  },

  /** {@code max(0, x)^2}, of layers without gates. */
  SQUARED_RELU("relu2") {
    @Override
    public boolean isGated() {
      return false;
    }

    @Override
    public void applyGate(RowKernels rows, float[] gate, float[] up, int at, int count) {
      throw new IllegalStateException("this activation has no gate");
    }
  },

  /**
   * {@code g / (1 + exp(-1.702 g)) * (u + 1)} with g at most 7 and u between -7 and 7, as in
   * gpt-oss.
   */
  BOUNDED_SILU("silu") {
    @Override
    public void applyGate(RowKernels rows, float[] gate, float[] up, int at, int count) {
      for (int i = at; i < at + count; i++) {
        gate[i] = STEEPNESS * Math.min(gate[i], BOUND);
        up[i] = (Math.max(-BOUND, Math.min(up[i], BOUND)) + 1) / STEEPNESS;
      }
      rows.gatedSilu(gate, up, at, count);
    }
  };

  /** Factor of the exponent of {@link #BOUNDED_SILU}. */
  public static final float STEEPNESS = 1.702f;

  /** Bound of its operands. */
  public static final float BOUND = 7;

  private final String huggingFaceName;

  Activation(String huggingFaceName) {
    this.huggingFaceName = huggingFaceName;
  }

  /** Returns the name in Hugging Face configurations. */
  String huggingFaceName() {
    return huggingFaceName;
  }

  /** Returns whether layers with this activation have gates. */
  public boolean isGated() {
    return true;
  }

  /** Computes {@code gate = activation(gate) * up}; {@code up} may be overwritten. */
  public abstract void applyGate(RowKernels rows, float[] gate, float[] up, int at, int count);
}
