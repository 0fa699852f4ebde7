package dev.kvasir.natives;

import java.lang.invoke.MethodHandle;

/**
 * A function of the library that accesses Java arrays in place.
 *
 * <p>Java passes an array as a {@link java.lang.foreign.MemorySegment}, which stays off the heap
 * only if the compiler follows it from its creation to the function. Inlined, a call takes about
 * 2,000 nodes. After a few calls, HotSpot reaches the 18,000 nodes at which it inlines only methods
 * marked for it ({@code NodeCountInliningCutoff}). Extracting the array from its segment is not
 * among them, so all segments of later calls would be allocated. A handle therefore creates its
 * segments itself and is opaque to compilers. Each function is then compiled separately,
 * independent of its callers.
 */
final class NativeFunction {
  /** The function's name in the library. */
  final String symbol;

  /** Not final: a constant would be inlined into its callers. */
  MethodHandle handle;

  NativeFunction(String symbol, MethodHandle handle) {
    this.symbol = symbol;
    this.handle = handle;
  }
}
