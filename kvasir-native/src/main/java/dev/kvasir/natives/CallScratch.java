package dev.kvasir.natives;

import java.lang.foreign.MemorySegment;

/**
 * Thread-local scratch memory into which a call unpacks operands for many rows; contents do not
 * survive the call. Its size is half of an L1 cache, so that it stays cached while the rows pass.
 */
final class CallScratch {
  /** The size that manyrows.h expects. */
  static final int FLOATS = 8192;

  static final int BYTES = 4 * FLOATS;

  private static final ThreadLocal<MemorySegment> OF_THREAD =
      ThreadLocal.withInitial(() -> MemorySegment.ofArray(new float[FLOATS]));

  private CallScratch() {}

  static MemorySegment ofThisThread() {
    return OF_THREAD.get();
  }
}
