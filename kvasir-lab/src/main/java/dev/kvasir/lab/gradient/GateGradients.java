package dev.kvasir.lab.gradient;

import dev.kvasir.kernel.Gelu;
import dev.kvasir.model.Activation;

/** Derivatives of gated activations {@code f(gate) * up}. */
final class GateGradients {
  private GateGradients() {}

  /**
   * Differentiates a row.
   *
   * @param dGate gradients of the product from {@code at} on, changed into those of the gates
   * @param dUp set
   */
  static void backward(
      Activation activation,
      float[] gate,
      float[] up,
      int at,
      int count,
      float[] dGate,
      float[] dUp) {
    switch (activation) {
      case SILU -> silu(gate, up, at, count, dGate, dUp);
      case GELU -> gelu(gate, up, at, count, dGate, dUp);
      case BOUNDED_SILU -> boundedSilu(gate, up, at, count, dGate, dUp);
    }
  }

  /** {@code f(g) = g s(g)} with the sigmoid s, whose derivative is {@code s (1 - s)}. */
  private static void silu(
      float[] gate, float[] up, int at, int count, float[] dGate, float[] dUp) {
    for (int i = at; i < at + count; i++) {
      float g = gate[i];
      float s = sigmoid(g);
      dUp[i] = dGate[i] * g * s;
      dGate[i] *= up[i] * s * (1 + g * (1 - s));
    }
  }

  /** {@code f(g) = g s(z)} with {@code z = b g + a g^3}. */
  private static void gelu(
      float[] gate, float[] up, int at, int count, float[] dGate, float[] dUp) {
    for (int i = at; i < at + count; i++) {
      float g = gate[i];
      float s = sigmoid(-g * (Gelu.CUBIC * g * g + Gelu.LINEAR));
      float slope = -(3 * Gelu.CUBIC * g * g + Gelu.LINEAR);
      dUp[i] = dGate[i] * g * s;
      dGate[i] *= up[i] * s * (1 + g * (1 - s) * slope);
    }
  }

  /** {@code g s(c g) (u + 1)} with bounded g and u; beyond their bounds nothing changes. */
  private static void boundedSilu(
      float[] gate, float[] up, int at, int count, float[] dGate, float[] dUp) {
    float bound = Activation.BOUND;
    for (int i = at; i < at + count; i++) {
      float g = Math.min(gate[i], bound);
      float u = Math.clamp(up[i], -bound, bound);
      float s = sigmoid(Activation.STEEPNESS * g);
      dUp[i] = Math.abs(up[i]) < bound ? dGate[i] * g * s : 0;
      float slope = s * (1 + Activation.STEEPNESS * g * (1 - s));
      dGate[i] = gate[i] < bound ? dGate[i] * (u + 1) * slope : 0;
    }
  }

  static float sigmoid(float x) {
    return (float) (1 / (1 + Math.exp(-x)));
  }
}
