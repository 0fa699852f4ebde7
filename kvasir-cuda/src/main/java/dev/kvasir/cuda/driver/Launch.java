package dev.kvasir.cuda.driver;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * A reusable kernel launch: a kernel with its arguments and grid. Launching allocates nothing on
 * the heap. Settings apply to later launches. Not thread-safe.
 *
 * <pre>
 * CUlaunchConfig     u32 grid x, y, z; u32 block x, y, z; u32 shared bytes; u32 -;
 *                    u64 stream; u64 attributes; u32 number of attributes
 * CUlaunchAttribute  u32 id; u32 -; 64 bytes of value
 * </pre>
 */
public final class Launch {
  private static final int CONFIG_BYTES = 56;
  private static final int BLOCK = 12;
  private static final int SHARED = 24;
  private static final int STREAM = 32;
  private static final int ATTRIBUTES = 40;
  private static final int ATTRIBUTE_COUNT = 48;
  private static final int ATTRIBUTE_BYTES = 72;
  private static final int ATTRIBUTE_VALUE = 8;

  /** Lets the kernel start before the previous one has ended. */
  private static final int PROGRAMMATIC_SERIALIZATION = 6;

  private static final MethodHandle LAUNCH =
      Driver.function("cuLaunchKernelEx", ADDRESS, JAVA_LONG, ADDRESS, ADDRESS);

  private final Kernel kernel;
  private final MemorySegment config;
  private final MemorySegment arguments; // consecutive, each aligned to 8 bytes
  private final MemorySegment argumentPointers;
  private final int[] offsets;

  /**
   * @param argumentBytes size of each argument
   */
  public Launch(Kernel kernel, int... argumentBytes) {
    this.kernel = kernel;
    this.offsets = new int[argumentBytes.length];
    int bytes = 0;
    for (int i = 0; i < argumentBytes.length; i++) {
      offsets[i] = bytes;
      bytes += argumentBytes[i] + 7 & ~7;
    }
    Arena arena = Arena.ofAuto();
    this.arguments = arena.allocate(Math.max(bytes, 8), 8);
    this.argumentPointers = arena.allocate(Math.max(8L * offsets.length, 8), 8);
    for (int i = 0; i < offsets.length; i++) {
      argumentPointers.setAtIndex(JAVA_LONG, i, arguments.address() + offsets[i]);
    }
    MemorySegment attribute = arena.allocate(ATTRIBUTE_BYTES, 8);
    attribute.set(JAVA_INT, 0, PROGRAMMATIC_SERIALIZATION);
    attribute.set(JAVA_INT, ATTRIBUTE_VALUE, 1);
    this.config = arena.allocate(CONFIG_BYTES, 8);
    config.set(JAVA_LONG, ATTRIBUTES, attribute.address());
    grid(1, 1, 1);
    block(1);
  }

  public Launch grid(int x, int y, int z) {
    config.setAtIndex(JAVA_INT, 0, x);
    config.setAtIndex(JAVA_INT, 1, y);
    config.setAtIndex(JAVA_INT, 2, z);
    return this;
  }

  public Launch block(int threads) {
    config.set(JAVA_INT, BLOCK, threads);
    config.set(JAVA_INT, BLOCK + 4, 1);
    config.set(JAVA_INT, BLOCK + 8, 1);
    return this;
  }

  public Launch shared(int bytes) {
    config.set(JAVA_INT, SHARED, bytes);
    return this;
  }

  /**
   * Sets whether the kernel may start before the previous one has ended (programmatic dependent
   * launch). The kernel itself then waits for the previous one. Requires compute capability 9.0.
   */
  public Launch programmaticDependent(boolean early) {
    config.set(JAVA_INT, ATTRIBUTE_COUNT, early ? 1 : 0);
    return this;
  }

  public Launch argument(int index, long value) {
    arguments.set(JAVA_LONG, offsets[index], value);
    return this;
  }

  public Launch argument(int index, int value) {
    arguments.set(JAVA_INT, offsets[index], value);
    return this;
  }

  /** Returns the offset of an argument within {@link #arguments}. */
  public int offset(int index) {
    return offsets[index];
  }

  /** Returns the memory of all arguments, in order. */
  public MemorySegment arguments() {
    return arguments;
  }

  public void on(CudaStream stream) {
    config.set(JAVA_LONG, STREAM, stream.handle());
    try {
      int result =
          (int) LAUNCH.invokeExact(config, kernel.handle(), argumentPointers, MemorySegment.NULL);
      if (result != 0) {
        throw Driver.failure(result, "cuLaunchKernelEx of " + kernel.name());
      }
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }
}
