package dev.kvasir.cuda;

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
 * A device that this process computes on. A thread enters it before it calls anything that belongs
 * to it; the one that opens it has entered it. Its memory goes with it; streams, modules and graphs
 * are to be closed before.
 */
public final class CudaContext implements AutoCloseable {
  private static final MethodHandle RETAIN =
      Driver.function("cuDevicePrimaryCtxRetain", ADDRESS, JAVA_INT);
  private static final MethodHandle RELEASE =
      Driver.function("cuDevicePrimaryCtxRelease_v2", JAVA_INT);
  private static final MethodHandle ENTER = Driver.function("cuCtxSetCurrent", JAVA_LONG);
  private static final MethodHandle SYNCHRONIZE = Driver.function("cuCtxSynchronize");
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
   * @throws DeviceException where there is no device
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

  /** Makes it the one that calls of this thread belong to. */
  public void enter() {
    try {
      Driver.check((int) ENTER.invokeExact(handle), "cuCtxSetCurrent");
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }

  public Device device() {
    return device;
  }

  /** Waits until all that was asked of the device is done, and tells what went wrong with it. */
  public void synchronize() {
    try {
      Driver.check((int) SYNCHRONIZE.invokeExact(), "cuCtxSynchronize");
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }

  /** Bytes of the device that nobody has taken, other processes included. */
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

  /** Bytes that were taken by {@link #allocate} and not given back. */
  public long allocatedBytes() {
    return allocatedBytes.get();
  }

  /**
   * Takes memory of the device, which holds anything.
   *
   * @throws DeviceException where there is not as much
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

  /** Gives back what is still taken, such as that of something which could not be made whole. */
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
