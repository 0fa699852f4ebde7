package dev.kvasir.natives;

import dev.kvasir.kernel.RecurrenceKernels;
import dev.kvasir.kernel.RowBlock;

/** Native recurrences, with a limited number of tokens per call. */
final class NativeRecurrences implements RecurrenceKernels {
  /** Numbers of states that a call changes, about 40 microseconds of work. */
  private static final CallBudget CHANGED = new CallBudget(1 << 18);

  private static final NativeFunction ADD_PRODUCTS =
      NativeFunctions.floatFunction("add_products", "[FI [FI [FI I");
  private static final NativeFunction DELTA_NET =
      NativeFunctions.floatFunction("delta_net", "[FII [FII [FII [FII [FII [FII I");
  private static final NativeFunction MAMBA =
      NativeFunctions.floatFunction("mamba", "[FII [FII [FII [FII [FII [FII I");

  @Override
  public void addProducts(float[] x, int xAt, float[] y, int yAt, float[] sums, int at, int count) {
    Bounds.check(x.length, xAt, count);
    Bounds.check(y.length, yAt, count);
    Bounds.check(sums.length, at, count);
    try {
      ADD_PRODUCTS.handle.invokeExact(x, xAt, y, yAt, sums, at, count);
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }

  @Override
  public void deltaNet(
      float[] state,
      RowBlock queries,
      RowBlock keys,
      RowBlock values,
      RowBlock factors,
      RowBlock out) {
    queries.requireShape(out.rows(), keys.width());
    keys.requireShape(out.rows(), keys.width());
    values.requireShape(out.rows(), out.width());
    factors.requireShape(out.rows(), 2);
    call(DELTA_NET, state, keys.width(), queries, keys, values, factors, out);
  }

  @Override
  public void mamba(
      float[] state,
      RowBlock channels,
      RowBlock inputs,
      RowBlock outputs,
      RowBlock factors,
      RowBlock out) {
    channels.requireShape(out.rows(), out.width());
    inputs.requireShape(out.rows(), inputs.width());
    outputs.requireShape(out.rows(), inputs.width());
    factors.requireShape(out.rows(), 3);
    call(MAMBA, state, inputs.width(), channels, inputs, outputs, factors, out);
  }

  /** Calls a function with some tokens at a time. */
  private static void call(
      NativeFunction function,
      float[] state,
      int depth,
      RowBlock a,
      RowBlock b,
      RowBlock c,
      RowBlock factors,
      RowBlock out) {
    int tokens = out.rows();
    int width = out.width();
    Bounds.check(state.length, depth * width);
    Bounds.check(a);
    Bounds.check(b);
    Bounds.check(c);
    Bounds.check(factors);
    Bounds.check(out);
    int perCall = CHANGED.itemsPerCall(tokens, (long) depth * width);
    for (int token = 0; token < tokens; token += perCall) {
      try {
        function.handle.invokeExact(
            state,
            depth,
            width,
            a.values(),
            a.at(token),
            a.stride(),
            b.values(),
            b.at(token),
            b.stride(),
            c.values(),
            c.at(token),
            c.stride(),
            factors.values(),
            factors.at(token),
            factors.stride(),
            out.values(),
            out.at(token),
            out.stride(),
            Math.min(perCall, tokens - token));
      } catch (Throwable e) {
        throw NativeFunctions.unexpected(e);
      }
    }
  }
}
