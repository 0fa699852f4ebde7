package dev.kvasir.cli.setup;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;
import java.util.OptionalLong;

/** The size of a memory page of the operating system. */
final class SystemPage {
  private SystemPage() {}

  /** Returns the bytes of a page; empty where the C library has no function for it. */
  @SuppressWarnings("restricted") // the signature is that of POSIX
  static OptionalLong bytes() {
    Linker linker = Linker.nativeLinker();
    Optional<MethodHandle> function =
        linker
            .defaultLookup()
            .find("getpagesize")
            .map(
                address ->
                    linker.downcallHandle(address, FunctionDescriptor.of(ValueLayout.JAVA_INT)));
    if (function.isEmpty()) {
      return OptionalLong.empty();
    }
    try {
      return OptionalLong.of((int) function.get().invokeExact());
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }
}
