package dev.kvasir.natives;

import static dev.kvasir.natives.NarrowCall.NONE;

import dev.kvasir.kernel.RowKernels;
import java.lang.foreign.MemorySegment;

/** What is done to rows. */
final class NativeRows implements RowKernels {
  private static final NarrowCall MAXIMUM = Calls.narrow("maximum");
  private static final NarrowCall EXPONENTIATE = Calls.narrow("exponentiate");
  private static final NarrowCall RMS_NORM = Calls.narrow("rms_norm");
  private static final NarrowCall GATED_SILU = Calls.narrow("gated_silu");
  private static final NarrowCall GATED_GELU = Calls.narrow("gated_gelu");
  private static final NarrowCall ADD = Calls.narrow("add");
  private static final NarrowCall MULTIPLY = Calls.narrow("multiply");
  private static final NarrowCall SCALE = Calls.narrow("scale");

  @Override
  public float maximum(float[] x, int at, int count) {
    Bounds.check(x.length, at, count);
    return MAXIMUM.with(MemorySegment.ofArray(x), NONE, NONE, at, count, 0, 0, 0);
  }

  @Override
  public float exponentiate(float[] x, int at, int count, float shift) {
    Bounds.check(x.length, at, count);
    return EXPONENTIATE.with(MemorySegment.ofArray(x), NONE, NONE, at, count, 0, 0, shift);
  }

  @Override
  public void rmsNorm(
      float[] x, int at, float[] weight, float epsilon, float[] out, int outAt, int count) {
    Bounds.check(x.length, at, count);
    Bounds.check(weight.length, 0, count);
    Bounds.check(out.length, outAt, count);
    RMS_NORM.with(
        MemorySegment.ofArray(x),
        MemorySegment.ofArray(weight),
        MemorySegment.ofArray(out),
        at,
        outAt,
        count,
        0,
        epsilon);
  }

  @Override
  public void gatedSilu(float[] gate, float[] up, int at, int count) {
    Bounds.check(gate.length, at, count);
    Bounds.check(up.length, at, count);
    GATED_SILU.with(
        MemorySegment.ofArray(gate), MemorySegment.ofArray(up), NONE, at, count, 0, 0, 0);
  }

  @Override
  public void gatedGelu(float[] gate, float[] up, int at, int count) {
    Bounds.check(gate.length, at, count);
    Bounds.check(up.length, at, count);
    GATED_GELU.with(
        MemorySegment.ofArray(gate), MemorySegment.ofArray(up), NONE, at, count, 0, 0, 0);
  }

  @Override
  public void add(float[] x, int at, float[] y, int yAt, int count) {
    Bounds.check(x.length, at, count);
    Bounds.check(y.length, yAt, count);
    ADD.with(MemorySegment.ofArray(x), MemorySegment.ofArray(y), NONE, at, yAt, count, 0, 0);
  }

  @Override
  public void multiply(float[] x, int at, float[] y, int yAt, float[] out, int outAt, int count) {
    Bounds.check(x.length, at, count);
    Bounds.check(y.length, yAt, count);
    Bounds.check(out.length, outAt, count);
    MULTIPLY.with(
        MemorySegment.ofArray(x),
        MemorySegment.ofArray(y),
        MemorySegment.ofArray(out),
        at,
        yAt,
        outAt,
        count,
        0);
  }

  @Override
  public void scale(float[] x, int at, int count, float factor) {
    Bounds.check(x.length, at, count);
    SCALE.with(MemorySegment.ofArray(x), NONE, NONE, at, count, 0, 0, factor);
  }
}
