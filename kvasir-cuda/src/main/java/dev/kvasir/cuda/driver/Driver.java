package dev.kvasir.cuda.driver;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.util.Optional;

/**
 * The CUDA driver library, which is installed with the card; no toolkit is needed. Classes that
 * call its functions hold them as constants. Handles are longs on every platform that CUDA
 * supports, so calls allocate nothing on the heap.
 */
@SuppressWarnings("restricted") // native access is the purpose of this class
final class Driver {
  private static final String LIBRARY = "libcuda.so.1";
  private static final Linker LINKER = Linker.nativeLinker();
  private static final long MESSAGE_BYTES = 1024;

  private Driver() {}

  /** The loaded library, or the reason why it is not available. */
  private record LoadedDriver(SymbolLookup symbols, String unavailableReason) {
    static final LoadedDriver INSTANCE = find();

    private static LoadedDriver find() {
      if (!Driver.class.getModule().isNativeAccessEnabled()) {
        return new LoadedDriver(
            null, "native access is not enabled; pass --enable-native-access=ALL-UNNAMED to java");
      }
      try {
        return new LoadedDriver(SymbolLookup.libraryLookup(LIBRARY, Arena.global()), null);
      } catch (IllegalArgumentException e) {
        return new LoadedDriver(null, "CUDA's driver, %s, is not installed".formatted(LIBRARY));
      }
    }
  }

  /** Returns why no call can be made; empty if calls can be made. */
  static Optional<String> unavailableReason() {
    return Optional.ofNullable(LoadedDriver.INSTANCE.unavailableReason());
  }

  /**
   * Returns a handle to a driver function that returns an error code. If the driver or the function
   * is missing, the handle throws a {@link DeviceException}.
   */
  static MethodHandle function(String name, MemoryLayout... arguments) {
    FunctionDescriptor type = FunctionDescriptor.of(JAVA_INT, arguments);
    if (LoadedDriver.INSTANCE.unavailableReason() != null) {
      return throwing(type, LoadedDriver.INSTANCE.unavailableReason());
    }
    return LoadedDriver.INSTANCE
        .symbols()
        .find(name)
        .map(symbol -> LINKER.downcallHandle(symbol, type))
        .orElseGet(() -> throwing(type, "CUDA's driver is too old: it has no " + name));
  }

  private static MethodHandle throwing(FunctionDescriptor type, String sentence) {
    MethodHandle thrower =
        MethodHandles.throwException(int.class, DeviceException.class)
            .bindTo(new DeviceException(sentence));
    return MethodHandles.dropArguments(thrower, 0, type.toMethodType().parameterList());
  }

  /**
   * @throws CudaException if the result is an error code
   */
  static void check(int result, String call) {
    if (result != 0) {
      throw failure(result, call);
    }
  }

  static CudaException failure(int result, String call) {
    return new CudaException(call, result, Errors.name(result), Errors.description(result));
  }

  /**
   * Wraps what a native call threw. Native functions throw nothing, so this means the call itself
   * was wrong.
   */
  static RuntimeException unexpected(Throwable e) {
    if (e instanceof Error error) {
      throw error;
    }
    return e instanceof RuntimeException known ? known : new IllegalStateException(e);
  }

  /** CUDA's error names and descriptions. */
  private static final class Errors {
    private static final MethodHandle NAME = function("cuGetErrorName", JAVA_INT, ADDRESS);
    private static final MethodHandle SENTENCE = function("cuGetErrorString", JAVA_INT, ADDRESS);

    static String name(int result) {
      return text(NAME, result, "an error without a name");
    }

    static String description(int result) {
      return text(SENTENCE, result, "of which CUDA says nothing");
    }

    private static String text(MethodHandle function, int result, String otherwise) {
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment at = arena.allocate(ADDRESS);
        if ((int) function.invokeExact(result, at) != 0) {
          return otherwise;
        }
        return at.get(ADDRESS, 0).reinterpret(MESSAGE_BYTES).getString(0);
      } catch (Throwable e) {
        throw unexpected(e);
      }
    }
  }
}
