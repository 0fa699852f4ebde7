package dev.kvasir.natives;

import dev.kvasir.kernel.RowKernels;

/** Native element-wise operations and reductions on rows. */
final class NativeRows implements RowKernels {
  private static final NativeFunction MAXIMUM = NativeFunctions.floatReduction("maximum", "[FII");
  private static final NativeFunction EXPONENTIATE =
      NativeFunctions.floatReduction("exponentiate", "[FIIF");
  private static final NativeFunction RMS_NORM =
      NativeFunctions.floatFunction("rms_norm", "[FI [FF [FII");
  private static final NativeFunction GATED_SILU =
      NativeFunctions.floatFunction("gated_silu", "[F [FII");
  private static final NativeFunction GATED_GELU =
      NativeFunctions.floatFunction("gated_gelu", "[F [FII");
  private static final NativeFunction ADD = NativeFunctions.floatFunction("add", "[FI [FII");
  private static final NativeFunction MULTIPLY =
      NativeFunctions.floatFunction("multiply", "[FI [FI [FII");
  private static final NativeFunction SCALE = NativeFunctions.floatFunction("scale", "[FIIF");

  @Override
  public float maximum(float[] x, int at, int count) {
    Bounds.check(x.length, at, count);
    try {
      return (float) MAXIMUM.handle.invokeExact(x, at, count);
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }

  @Override
  public float exponentiate(float[] x, int at, int count, float shift) {
    Bounds.check(x.length, at, count);
    try {
      return (float) EXPONENTIATE.handle.invokeExact(x, at, count, shift);
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }

  @Override
  public void rmsNorm(
      float[] x, int at, float[] weight, float epsilon, float[] out, int outAt, int count) {
    Bounds.check(x.length, at, count);
    Bounds.check(weight.length, 0, count);
    Bounds.check(out.length, outAt, count);
    try {
      RMS_NORM.handle.invokeExact(x, at, weight, epsilon, out, outAt, count);
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }

  @Override
  public void gatedSilu(float[] gate, float[] up, int at, int count) {
    Bounds.check(gate.length, at, count);
    Bounds.check(up.length, at, count);
    try {
      GATED_SILU.handle.invokeExact(gate, up, at, count);
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }

  @Override
  public void gatedGelu(float[] gate, float[] up, int at, int count) {
    Bounds.check(gate.length, at, count);
    Bounds.check(up.length, at, count);
    try {
      GATED_GELU.handle.invokeExact(gate, up, at, count);
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }

  @Override
  public void add(float[] x, int at, float[] y, int yAt, int count) {
    Bounds.check(x.length, at, count);
    Bounds.check(y.length, yAt, count);
    try {
      ADD.handle.invokeExact(x, at, y, yAt, count);
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }

  @Override
  public void multiply(float[] x, int at, float[] y, int yAt, float[] out, int outAt, int count) {
    Bounds.check(x.length, at, count);
    Bounds.check(y.length, yAt, count);
    Bounds.check(out.length, outAt, count);
    try {
      MULTIPLY.handle.invokeExact(x, at, y, yAt, out, outAt, count);
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }

  @Override
  public void scale(float[] x, int at, int count, float factor) {
    Bounds.check(x.length, at, count);
    try {
      SCALE.handle.invokeExact(x, at, count, factor);
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }
}
