package dev.kvasir.simd;

import dev.kvasir.kernel.RowKernels;
import jdk.incubator.vector.FloatVector;

/** What is done to rows, on the Vector API. */
final class VectorRows implements RowKernels {
  @Override
  public float maximum(float[] x, int at, int count) {
    return FloatRows.maximum(x, at, count);
  }

  @Override
  public float exponentiate(float[] x, int at, int count, float shift) {
    return FloatRows.exponentiate(x, at, count, shift);
  }

  @Override
  public void rmsNorm(
      float[] x, int at, float[] weight, float epsilon, float[] out, int outAt, int count) {
    FloatRows.rmsNorm(x, at, weight, epsilon, out, outAt, count);
  }

  @Override
  public void gatedSilu(float[] gate, float[] up, int at, int count) {
    FloatRows.gatedSilu(gate, up, at, count);
  }

  @Override
  public void gatedGelu(float[] gate, float[] up, int at, int count) {
    FloatRows.gatedGelu(gate, up, at, count);
  }

  @Override
  public void add(float[] x, int at, float[] y, int yAt, int count) {
    int i = 0;
    for (; i <= count - FloatRows.LANES; i += FloatRows.LANES) {
      FloatVector.fromArray(FloatRows.SPECIES, x, at + i)
          .add(FloatVector.fromArray(FloatRows.SPECIES, y, yAt + i))
          .intoArray(x, at + i);
    }
    for (; i < count; i++) {
      x[at + i] += y[yAt + i];
    }
  }

  @Override
  public void multiply(float[] x, int at, float[] y, int yAt, float[] out, int outAt, int count) {
    int i = 0;
    for (; i <= count - FloatRows.LANES; i += FloatRows.LANES) {
      FloatVector.fromArray(FloatRows.SPECIES, x, at + i)
          .mul(FloatVector.fromArray(FloatRows.SPECIES, y, yAt + i))
          .intoArray(out, outAt + i);
    }
    for (; i < count; i++) {
      out[outAt + i] = x[at + i] * y[yAt + i];
    }
  }

  @Override
  public void scale(float[] x, int at, int count, float factor) {
    int i = 0;
    for (; i <= count - FloatRows.LANES; i += FloatRows.LANES) {
      FloatVector.fromArray(FloatRows.SPECIES, x, at + i).mul(factor).intoArray(x, at + i);
    }
    for (; i < count; i++) {
      x[at + i] *= factor;
    }
  }
}
