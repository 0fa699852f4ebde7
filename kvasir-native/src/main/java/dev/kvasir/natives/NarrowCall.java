package dev.kvasir.natives;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * A function that is entered by a few addresses and numbers, of which it takes what it needs;
 * {@code NARROW} in kernels.h. Java links a type of function once, whatever functions have it.
 */
record NarrowCall(MethodHandle handle) {
  static final FunctionDescriptor TYPE =
      FunctionDescriptor.of(
          JAVA_FLOAT,
          ADDRESS,
          ADDRESS,
          ADDRESS,
          JAVA_LONG,
          JAVA_LONG,
          JAVA_LONG,
          JAVA_LONG,
          JAVA_FLOAT);

  static final MemorySegment NONE = MemorySegment.NULL;

  float with(
      MemorySegment a, MemorySegment b, MemorySegment c, long i, long j, long k, long l, float x) {
    try {
      return (float) handle.invokeExact(a, b, c, i, j, k, l, x);
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }
}
