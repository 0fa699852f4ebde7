package dev.kvasir.natives;

import java.lang.foreign.MemorySegment;

/**
 * A thread's room for what a call unpacks for many rows; nothing in it outlives the call. Half of a
 * first cache, so that it stays there while the rows pass.
 */
final class CallScratch {
  /** As manyrows.h has it. */
  static final int FLOATS = 8192;

  static final int BYTES = 4 * FLOATS;

  private static final ThreadLocal<MemorySegment> OF_THREAD =
      ThreadLocal.withInitial(() -> MemorySegment.ofArray(new float[FLOATS]));

  private CallScratch() {}

  static MemorySegment ofThisThread() {
    return OF_THREAD.get();
  }
}
