package dev.kvasir.cuda.driver;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.invoke.MethodHandle;

/**
 * A kernel function, valid as long as its module, which has one object for it. Limits are raised by
 * one thread at a time.
 */
public final class Kernel {
  private static final int MAX_DYNAMIC_SHARED_BYTES = 8;

  private static final MethodHandle SET_ATTRIBUTE =
      Driver.function("cuFuncSetAttribute", JAVA_LONG, JAVA_INT, JAVA_INT);

  private final String name;
  private final long handle;
  private int allowedBytes; // of dynamic shared memory, raised so far

  Kernel(String name, long handle) {
    this.name = name;
    this.handle = handle;
  }

  public String name() {
    return name;
  }

  long handle() {
    return handle;
  }

  /**
   * Raises the dynamic shared memory limit of the kernel, which is 48 KiB by default. Allocates
   * nothing on the heap, since every step may ask for it.
   */
  public void allowSharedBytes(int bytes) {
    if (bytes <= allowedBytes) {
      return;
    }
    try {
      int result = (int) SET_ATTRIBUTE.invokeExact(handle, MAX_DYNAMIC_SHARED_BYTES, bytes);
      if (result != 0) {
        throw Driver.failure(
            result, "cuFuncSetAttribute of %s: %,d bytes of shared memory".formatted(name, bytes));
      }
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
    allowedBytes = bytes;
  }
}
