package dev.kvasir.natives;

import java.lang.invoke.MethodHandle;

/**
 * A function of the library, which takes arrays where they lie.
 *
 * <p>Java passes an array as a {@link java.lang.foreign.MemorySegment}, and that stays off the heap
 * only where a compiler follows it from its making to the function. Compiled into whoever calls,
 * with some 2,000 nodes for a call, a few calls reach the 18,000 at which HotSpot inlines nothing
 * more that is not marked for it ({@code NodeCountInliningCutoff}), and what takes an array out of
 * its segment is not: all segments of later calls become objects. So a handle makes its segments
 * itself, and compilers are kept from looking through it. Each function is then compiled alone,
 * whoever calls it and whatever else they do.
 */
final class NativeFunction {
  /** The function's name in the library. */
  final String symbol;

  /** Not final: a constant would be compiled into its callers. */
  MethodHandle handle;

  NativeFunction(String symbol, MethodHandle handle) {
    this.symbol = symbol;
    this.handle = handle;
  }
}
