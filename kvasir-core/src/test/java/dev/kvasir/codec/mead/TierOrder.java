package dev.kvasir.codec.mead;

import dev.kvasir.codec.Page;
import dev.kvasir.kernel.ScalarKernels;
import java.lang.foreign.MemorySegment;

/** Reads a {@link SaliencyTierMap}. */
final class TierOrder {
  private TierOrder() {}

  /** Returns the token of each row. */
  static byte[] read(MemorySegment in, long at) {
    byte[] order = new byte[Page.TOKENS];
    new ScalarKernels()
        .rowCodes()
        .orderRows(in, at, MemorySegment.NULL, new int[0], order, new int[Page.TOKENS]);
    return order;
  }
}
