package dev.kvasir.cuda.driver;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A CUDA context: one device used by this process. A thread must {@link #enter} the context before
 * it calls anything that belongs to it; the opening thread has entered it. Closing frees all of its
 * memory. Streams, modules and graphs must be closed first.
 */
public final class CudaContext implements AutoCloseable {
  private static final MethodHandle RETAIN =
      Driver.function("cuDevicePrimaryCtxRetain", ADDRESS, JAVA_INT);
  private static final MethodHandle RELEASE =
      Driver.function("cuDevicePrimaryCtxRelease_v2", JAVA_INT);
  private static final MethodHandle ENTER = Driver.function("cuCtxSetCurrent", JAVA_LONG);
  private static final MethodHandle FREE_MEMORY =
      Driver.function("cuMemGetInfo_v2", ADDRESS, ADDRESS);

  private final Device device;
  private final long handle;
  private final Set<DeviceMemory> live = ConcurrentHashMap.newKeySet();
  private final AtomicLong allocatedBytes = new AtomicLong();
  private boolean closed;

  private CudaContext(Device device, long handle) {
    this.device = device;
    this.handle = handle;
  }

  /**
   * Opens the first device.
   *
   * @throws DeviceException if there is no device
   */
  public static CudaContext open() {
    return open(Device.first());
  }

  public static CudaContext open(Device device) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment at = arena.allocate(JAVA_LONG);
      Driver.check((int) RETAIN.invokeExact(at, device.ordinal()), "cuDevicePrimaryCtxRetain");
      CudaContext context = new CudaContext(device, at.get(JAVA_LONG, 0));
      context.enter();
      return context;
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }

  /** Makes this context current for the calling thread. */
  public void enter() {
    try {
      Driver.check((int) ENTER.invokeExact(handle), "cuCtxSetCurrent");
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }

  long handle() {
    return handle;
  }

  public Device device() {
    return device;
  }

  /** Returns the free bytes of the device, which other processes share. */
  public long freeBytes() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment free = arena.allocate(JAVA_LONG);
      MemorySegment total = arena.allocate(JAVA_LONG);
      Driver.check((int) FREE_MEMORY.invokeExact(free, total), "cuMemGetInfo");
      return free.get(JAVA_LONG, 0);
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }

  /** Returns the bytes allocated by {@link #allocate} and not yet freed. */
  public long allocatedBytes() {
    return allocatedBytes.get();
  }

  /**
   * Allocates uninitialized device memory.
   *
   * @throws DeviceException if the device has too little free memory
   */
  public DeviceMemory allocate(long bytes) {
    return DeviceMemory.allocate(this, bytes);
  }

  void onAllocated(DeviceMemory memory) {
    live.add(memory);
    allocatedBytes.addAndGet(memory.bytes());
  }

  void onFreed(DeviceMemory memory) {
    live.remove(memory);
    allocatedBytes.addAndGet(-memory.bytes());
  }

  /** Frees all memory still allocated, including that of partially built objects. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    List<AutoCloseable> lastFirst = new ArrayList<>();
    lastFirst.add(this::release);
    lastFirst.addAll(live);
    lastFirst.add(this::enter);
    Resources.closeAll(lastFirst);
  }

  private void release() {
    try {
      Driver.check((int) RELEASE.invokeExact(device.ordinal()), "cuDevicePrimaryCtxRelease");
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }
}
