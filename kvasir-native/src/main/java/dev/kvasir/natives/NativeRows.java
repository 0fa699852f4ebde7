package dev.kvasir.natives;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.kvasir.kernel.RowKernels;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** What is done to rows. */
final class NativeRows implements RowKernels {
  private static final MethodHandle MAXIMUM =
      Calls.function(
          "maximum",
          Calls.forFloats(),
          FunctionDescriptor.of(JAVA_FLOAT, ADDRESS, JAVA_INT, JAVA_INT));
  private static final MethodHandle EXPONENTIATE =
      Calls.function(
          "exponentiate",
          Calls.forFloats(),
          FunctionDescriptor.of(JAVA_FLOAT, ADDRESS, JAVA_INT, JAVA_INT, JAVA_FLOAT));
  private static final MethodHandle RMS_NORM =
      Calls.floats("rms_norm", ADDRESS, JAVA_INT, ADDRESS, JAVA_FLOAT, ADDRESS, JAVA_INT, JAVA_INT);
  private static final MethodHandle GATED_SILU =
      Calls.floats("gated_silu", ADDRESS, ADDRESS, JAVA_INT, JAVA_INT);
  private static final MethodHandle GATED_GELU =
      Calls.floats("gated_gelu", ADDRESS, ADDRESS, JAVA_INT, JAVA_INT);
  private static final MethodHandle ADD =
      Calls.floats("add", ADDRESS, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT);
  private static final MethodHandle MULTIPLY =
      Calls.floats("multiply", ADDRESS, JAVA_INT, ADDRESS, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT);
  private static final MethodHandle SCALE =
      Calls.floats("scale", ADDRESS, JAVA_INT, JAVA_INT, JAVA_FLOAT);

  @Override
  public float maximum(float[] x, int at, int count) {
    Bounds.check(x.length, at, count);
    try {
      return (float) MAXIMUM.invokeExact(MemorySegment.ofArray(x), at, count);
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }

  @Override
  public float exponentiate(float[] x, int at, int count, float shift) {
    Bounds.check(x.length, at, count);
    try {
      return (float) EXPONENTIATE.invokeExact(MemorySegment.ofArray(x), at, count, shift);
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }

  @Override
  public void rmsNorm(
      float[] x, int at, float[] weight, float epsilon, float[] out, int outAt, int count) {
    Bounds.check(x.length, at, count);
    Bounds.check(weight.length, 0, count);
    Bounds.check(out.length, outAt, count);
    try {
      RMS_NORM.invokeExact(
          MemorySegment.ofArray(x),
          at,
          MemorySegment.ofArray(weight),
          epsilon,
          MemorySegment.ofArray(out),
          outAt,
          count);
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }

  @Override
  public void gatedSilu(float[] gate, float[] up, int at, int count) {
    Bounds.check(gate.length, at, count);
    Bounds.check(up.length, at, count);
    try {
      GATED_SILU.invokeExact(MemorySegment.ofArray(gate), MemorySegment.ofArray(up), at, count);
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }

  @Override
  public void gatedGelu(float[] gate, float[] up, int at, int count) {
    Bounds.check(gate.length, at, count);
    Bounds.check(up.length, at, count);
    try {
      GATED_GELU.invokeExact(MemorySegment.ofArray(gate), MemorySegment.ofArray(up), at, count);
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }

  @Override
  public void add(float[] x, int at, float[] y, int yAt, int count) {
    Bounds.check(x.length, at, count);
    Bounds.check(y.length, yAt, count);
    try {
      ADD.invokeExact(MemorySegment.ofArray(x), at, MemorySegment.ofArray(y), yAt, count);
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }

  @Override
  public void multiply(float[] x, int at, float[] y, int yAt, float[] out, int outAt, int count) {
    Bounds.check(x.length, at, count);
    Bounds.check(y.length, yAt, count);
    Bounds.check(out.length, outAt, count);
    try {
      MULTIPLY.invokeExact(
          MemorySegment.ofArray(x),
          at,
          MemorySegment.ofArray(y),
          yAt,
          MemorySegment.ofArray(out),
          outAt,
          count);
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }

  @Override
  public void scale(float[] x, int at, int count, float factor) {
    Bounds.check(x.length, at, count);
    try {
      SCALE.invokeExact(MemorySegment.ofArray(x), at, count, factor);
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }
}
