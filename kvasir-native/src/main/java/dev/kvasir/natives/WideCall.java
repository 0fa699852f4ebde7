package dev.kvasir.natives;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * A function that is entered by many addresses and numbers, of which it takes what it needs, as
 * {@link NarrowCall} is by a few; {@code WIDE} in kernels.h.
 */
record WideCall(MethodHandle handle) {
  static final FunctionDescriptor TYPE =
      FunctionDescriptor.ofVoid(
          ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG,
          JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);

  static final MemorySegment NONE = MemorySegment.NULL;

  void with(
      MemorySegment a,
      MemorySegment b,
      MemorySegment c,
      MemorySegment d,
      MemorySegment e,
      MemorySegment f,
      MemorySegment g,
      MemorySegment h,
      long i,
      long j,
      long k,
      long l,
      long m,
      long n,
      long o,
      long p,
      long q) {
    try {
      handle.invokeExact(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q);
    } catch (Throwable failure) {
      throw Calls.unexpected(failure);
    }
  }
}
