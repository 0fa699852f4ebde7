package dev.kvasir.natives;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.kvasir.kernel.RowBlock;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

class NativeFunctionTest {
  private static final int LENGTH = 16;
  private static final int TIMES = 2_000;

  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private final NativeRows rows = new NativeRows();
  private final NativeFloats floats = new NativeFloats();
  private final float[] x = new float[LENGTH];
  private final float[] y = new float[LENGTH];
  private final float[] z = new float[LENGTH];
  private final RowBlock xRow = new RowBlock();
  private final RowBlock yRow = new RowBlock();
  private final RowBlock zRow = new RowBlock();

  /** Inlined into one method, this many calls would exceed the node limit of HotSpot's inlining. */
  @Test
  void manyCallsOfAMethodLeaveNothingOnTheHeap() {
    long least = Long.MAX_VALUE;
    // Code that is not compiled yet allocates.
    for (int round = 0; round < 3_000 && least > 0; round++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < TIMES; i++) {
        callMany();
      }
      least = Math.min(least, (threads.getCurrentThreadAllocatedBytes() - before) / TIMES);
    }
    assertThat(least).isZero();
  }

  private void callMany() {
    rows.add(x, 0, y, 0, LENGTH);
    rows.multiply(x, 0, y, 0, z, 0, LENGTH);
    rows.scale(z, 0, LENGTH, 1);
    rows.rmsNorm(x, 0, y, 1, z, 0, LENGTH);
    rows.gatedSilu(x, y, 0, LENGTH);
    rows.gatedGelu(x, y, 0, LENGTH);
    rows.exponentiate(x, 0, LENGTH, rows.maximum(x, 0, LENGTH));
    floats.products(xRow.set(x, 1, LENGTH), yRow.set(y, 1, LENGTH), zRow.set(z, 1, 1));
    floats.weightedSums(xRow.set(x, 1, 1), yRow.set(y, 1, LENGTH), zRow.set(z, 1, LENGTH));
    rows.scale(x, 0, LENGTH, 0); // otherwise they would grow without bound
  }
}
