package dev.kvasir.cuda.driver;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * A CUDA device.
 *
 * @param ordinal index among the devices of this process
 * @param computeCapability 90 for 9.0
 * @param multiprocessors number of streaming multiprocessors
 * @param sharedMemoryBytes maximum shared memory of a thread block
 * @param l2CacheBytes size of the L2 cache
 */
public record Device(
    int ordinal,
    String name,
    int computeCapability,
    int multiprocessors,
    int sharedMemoryBytes,
    long l2CacheBytes,
    long memoryBytes) {
  /** Attribute numbers of the CUDA driver API. */
  private static final int MULTIPROCESSORS = 16;

  private static final int CACHE_BYTES = 38;
  private static final int MAJOR = 75;
  private static final int MINOR = 76;
  private static final int SHARED_BYTES = 97;
  private static final int NAME_BYTES = 256;

  private static final int NO_DEVICE = 100;

  /** The devices of this process, or the reason why there are none. */
  private record DetectedDevices(List<Device> devices, String unavailableReason) {
    static final DetectedDevices INSTANCE = find();

    private static DetectedDevices find() {
      Optional<String> noDriver = Driver.unavailableReason();
      if (noDriver.isPresent()) {
        return new DetectedDevices(List.of(), noDriver.get());
      }
      try {
        int count = DriverCalls.count();
        return count == 0
            ? new DetectedDevices(List.of(), "CUDA's driver finds no device")
            : new DetectedDevices(
                IntStream.range(0, count).mapToObj(DriverCalls::describe).toList(), null);
      } catch (CudaException e) {
        return new DetectedDevices(
            List.of(), e.code() == NO_DEVICE ? "CUDA's driver finds no device" : e.getMessage());
      } catch (DeviceException e) {
        return new DetectedDevices(List.of(), e.getMessage());
      }
    }
  }

  /**
   * Returns whether the device multiplies by warpgroups, and the compiled kernels for it do. Only
   * compute capability 9.0 has these instructions.
   */
  public boolean hasWarpgroupProducts() {
    return computeCapability == 90;
  }

  /** Returns all devices. The list is empty if {@link #unavailableReason} is present. */
  public static List<Device> all() {
    return DetectedDevices.INSTANCE.devices();
  }

  /** Returns why there is no device, as a sentence; empty if there is one. */
  public static Optional<String> unavailableReason() {
    return Optional.ofNullable(DetectedDevices.INSTANCE.unavailableReason());
  }

  /**
   * Returns the first device.
   *
   * @throws DeviceException if there is none
   */
  public static Device first() {
    if (all().isEmpty()) {
      throw new DeviceException(DetectedDevices.INSTANCE.unavailableReason());
    }
    return all().getFirst();
  }

  /**
   * Returns a device by its index.
   *
   * @throws DeviceException if there is none
   */
  public static Device at(int ordinal) {
    if (ordinal > 0 && ordinal >= all().size()) {
      throw new DeviceException(
          "the device is cuda:%d; expected at most cuda:%d, since this machine has %d of them"
              .formatted(ordinal, all().size() - 1, all().size()));
    }
    return ordinal == 0 ? first() : all().get(ordinal);
  }

  private static final class DriverCalls {
    private static final MethodHandle INIT = Driver.function("cuInit", JAVA_INT);
    private static final MethodHandle COUNT = Driver.function("cuDeviceGetCount", ADDRESS);
    private static final MethodHandle NAME =
        Driver.function("cuDeviceGetName", ADDRESS, JAVA_INT, JAVA_INT);
    private static final MethodHandle ATTRIBUTE =
        Driver.function("cuDeviceGetAttribute", ADDRESS, JAVA_INT, JAVA_INT);
    private static final MethodHandle MEMORY =
        Driver.function("cuDeviceTotalMem_v2", ADDRESS, JAVA_INT);

    static int count() {
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment count = arena.allocate(JAVA_INT);
        Driver.check((int) INIT.invokeExact(0), "cuInit");
        Driver.check((int) COUNT.invokeExact(count), "cuDeviceGetCount");
        return count.get(JAVA_INT, 0);
      } catch (Throwable e) {
        throw Driver.unexpected(e);
      }
    }

    static Device describe(int number) {
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment name = arena.allocate(NAME_BYTES);
        Driver.check((int) NAME.invokeExact(name, NAME_BYTES, number), "cuDeviceGetName");
        MemorySegment bytes = arena.allocate(JAVA_LONG);
        Driver.check((int) MEMORY.invokeExact(bytes, number), "cuDeviceTotalMem");
        return new Device(
            number,
            name.getString(0),
            10 * attribute(arena, MAJOR, number) + attribute(arena, MINOR, number),
            attribute(arena, MULTIPROCESSORS, number),
            attribute(arena, SHARED_BYTES, number),
            attribute(arena, CACHE_BYTES, number),
            bytes.get(JAVA_LONG, 0));
      } catch (Throwable e) {
        throw Driver.unexpected(e);
      }
    }

    private static int attribute(Arena arena, int which, int number) throws Throwable {
      MemorySegment value = arena.allocate(JAVA_INT);
      Driver.check((int) ATTRIBUTE.invokeExact(value, which, number), "cuDeviceGetAttribute");
      return value.get(JAVA_INT, 0);
    }
  }
}
