package dev.kvasir.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Random;
import java.util.function.BiConsumer;

/** Memory of a device, counted by its context; closing gives it back. */
public final class DeviceMemory implements AutoCloseable {
  private static final MethodHandle ALLOCATE = Driver.function("cuMemAlloc_v2", ADDRESS, JAVA_LONG);
  private static final MethodHandle FREE = Driver.function("cuMemFree_v2", JAVA_LONG);
  private static final MethodHandle UPLOAD =
      Driver.function("cuMemcpyHtoDAsync_v2", JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle DOWNLOAD =
      Driver.function("cuMemcpyDtoHAsync_v2", ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle COPY =
      Driver.function("cuMemcpyDtoDAsync_v2", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle FILL =
      Driver.function("cuMemsetD8Async", JAVA_LONG, JAVA_BYTE, JAVA_LONG, JAVA_LONG);

  private static final int RANDOM_BYTES = 1 << 22;

  private final CudaContext context;
  private final long address;
  private final long bytes;
  private boolean closed;

  private DeviceMemory(CudaContext context, long address, long bytes) {
    this.context = context;
    this.address = address;
    this.bytes = bytes;
  }

  static DeviceMemory allocate(CudaContext context, long bytes) {
    if (bytes < 1) {
      throw new IllegalArgumentException("bytes is %d; expected at least 1".formatted(bytes));
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment at = arena.allocate(JAVA_LONG);
      int result = (int) ALLOCATE.invokeExact(at, bytes);
      if (result == CudaException.OUT_OF_MEMORY) {
        throw new DeviceException(
            "%s has %,d bytes free; %,d were asked for"
                .formatted(context.device().name(), context.freeBytes(), bytes));
      }
      Driver.check(result, "cuMemAlloc of %,d bytes".formatted(bytes));
      DeviceMemory memory = new DeviceMemory(context, at.get(JAVA_LONG, 0), bytes);
      context.onAllocated(memory);
      return memory;
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }

  /** Where it begins, for kernels; a multiple of 256. */
  public long address() {
    return address;
  }

  public long bytes() {
    return bytes;
  }

  /**
   * Copies from outside the heap, in the order of a stream; the source stays as it is until then.
   */
  public void upload(CudaStream stream, long offset, MemorySegment source, long count) {
    check(offset, count);
    uploadTo(stream, address + offset, source, count);
  }

  /** Copies to memory outside the heap, in the order of a stream. */
  public void download(CudaStream stream, long offset, MemorySegment target, long count) {
    check(offset, count);
    downloadFrom(stream, target, address + offset, count);
  }

  /** Copies all of another memory of the device. */
  public void copy(CudaStream stream, long offset, DeviceMemory source) {
    check(offset, source.bytes);
    try {
      Driver.check(
          (int) COPY.invokeExact(address + offset, source.address, source.bytes, stream.handle()),
          "cuMemcpyDtoDAsync");
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }

  /** Copies within the device, from anywhere to anywhere. */
  static void copy(CudaStream stream, long to, long from, long count) {
    try {
      Driver.check((int) COPY.invokeExact(to, from, count, stream.handle()), "cuMemcpyDtoDAsync");
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }

  /** Copies from outside the heap to anywhere in the device. */
  static void uploadTo(CudaStream stream, long to, MemorySegment source, long count) {
    try {
      Driver.check(
          (int) UPLOAD.invokeExact(to, source.asSlice(0, count), count, stream.handle()),
          "cuMemcpyHtoDAsync");
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }

  /** Copies from anywhere in the device to memory outside the heap. */
  static void downloadFrom(CudaStream stream, MemorySegment target, long from, long count) {
    try {
      Driver.check(
          (int) DOWNLOAD.invokeExact(target.asSlice(0, count), from, count, stream.handle()),
          "cuMemcpyDtoHAsync");
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }

  /** Sets every byte. */
  public void fill(CudaStream stream, byte value) {
    try {
      Driver.check(
          (int) FILL.invokeExact(address, value, bytes, stream.handle()), "cuMemsetD8Async");
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }

  /** Sets bytes anywhere in the device to zero. */
  static void clear(CudaStream stream, long from, long count) {
    try {
      Driver.check(
          (int) FILL.invokeExact(from, (byte) 0, count, stream.handle()), "cuMemsetD8Async");
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }

  /** Fills it with numbers below two, to measure with: no byte makes a half infinite. */
  public void fillRandom(CudaStream stream) {
    fillRepeating(
        stream,
        RANDOM_BYTES,
        (part, random) -> {
          random.nextBytes(part);
          for (int i = 0; i < part.length; i++) {
            part[i] &= (byte) 0xBF;
          }
        });
  }

  /** Fills it with copies of some bytes, the last one cut off. */
  void fillRepeating(CudaStream stream, int count, BiConsumer<byte[], Random> maker) {
    byte[] part = new byte[count];
    maker.accept(part, new Random(1));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment copy = arena.allocateFrom(JAVA_BYTE, part);
      upload(stream, 0, copy, Math.min(count, bytes));
      for (long at = count; at < bytes; at *= 2) {
        copy(stream, address + at, address, Math.min(at, bytes - at));
      }
      stream.synchronize();
    }
  }

  private void check(long offset, long count) {
    if (closed) {
      throw new IllegalStateException("the memory was given back");
    }
    if (offset < 0 || count < 0 || offset > bytes - count) {
      throw new IndexOutOfBoundsException(
          "%d bytes at %d; expected within %d".formatted(count, offset, bytes));
    }
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    try {
      Driver.check((int) FREE.invokeExact(address), "cuMemFree");
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
    context.onFreed(this);
  }
}
