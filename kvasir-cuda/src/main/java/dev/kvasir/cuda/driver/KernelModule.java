package dev.kvasir.cuda.driver;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The kernels of Kvasir, loaded into a CUDA context. */
public final class KernelModule implements AutoCloseable {
  /** The driver expects aligned images. */
  private static final long IMAGE_ALIGNMENT = 16;

  private static final MethodHandle LOAD = Driver.function("cuModuleLoadData", ADDRESS, ADDRESS);
  private static final MethodHandle UNLOAD = Driver.function("cuModuleUnload", JAVA_LONG);
  private static final MethodHandle FIND =
      Driver.function("cuModuleGetFunction", ADDRESS, JAVA_LONG, ADDRESS);

  private final CudaContext context;
  private final long handle;
  private final Map<String, Kernel> kernels = new ConcurrentHashMap<>(); // by name
  private boolean closed;

  private KernelModule(CudaContext context, long handle) {
    this.context = context;
    this.handle = handle;
  }

  public static KernelModule load(CudaContext context) {
    return load(context, KernelImage.of(context.device()));
  }

  static KernelModule load(CudaContext context, KernelImage image) {
    byte[] bytes = image.bytes();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment copy = arena.allocate(bytes.length, IMAGE_ALIGNMENT);
      MemorySegment.copy(bytes, 0, copy, JAVA_BYTE, 0, bytes.length);
      MemorySegment at = arena.allocate(JAVA_LONG);
      Driver.check(
          (int) LOAD.invokeExact(at, copy), "cuModuleLoadData of %s".formatted(image.file()));
      return new KernelModule(context, at.get(JAVA_LONG, 0));
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }

  /** Returns a kernel; the same one for a name, since limits are those of its function. */
  public Kernel kernel(String name) {
    return kernels.computeIfAbsent(name, this::find);
  }

  private Kernel find(String name) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment at = arena.allocate(JAVA_LONG);
      Driver.check(
          (int) FIND.invokeExact(at, handle, arena.allocateFrom(name)),
          "cuModuleGetFunction of %s".formatted(name));
      return new Kernel(name, at.get(JAVA_LONG, 0));
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }

  public CudaContext context() {
    return context;
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    try {
      Driver.check((int) UNLOAD.invokeExact(handle), "cuModuleUnload");
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }
}
