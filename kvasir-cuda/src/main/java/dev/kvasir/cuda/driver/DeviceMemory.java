package dev.kvasir.cuda.driver;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Objects;
import java.util.Random;
import java.util.function.BiConsumer;

/** A block of device memory, counted by its context and freed by {@link #close}. */
public final class DeviceMemory implements AutoCloseable {
  private static final MethodHandle ALLOCATE = Driver.function("cuMemAlloc_v2", ADDRESS, JAVA_LONG);
  private static final MethodHandle FREE = Driver.function("cuMemFree_v2", JAVA_LONG);
  private static final MethodHandle UPLOAD =
      Driver.function("cuMemcpyHtoDAsync_v2", JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle DOWNLOAD =
      Driver.function("cuMemcpyDtoHAsync_v2", ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle COPY =
      Driver.function("cuMemcpyDtoDAsync_v2", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle COPY_PEER =
      Driver.function(
          "cuMemcpyPeerAsync", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
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
            "%s has %,d bytes free; %,d were requested"
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

  /** Returns the device address, a multiple of 256. */
  public long address() {
    return address;
  }

  public long bytes() {
    return bytes;
  }

  /**
   * Copies from off-heap memory, asynchronously in stream order. The source must not change until
   * the copy has run.
   */
  public void upload(CudaStream stream, long offset, MemorySegment source, long count) {
    check(offset, count);
    uploadTo(stream, address + offset, source, count);
  }

  /** Copies to off-heap memory, asynchronously in stream order. */
  public void download(CudaStream stream, long offset, MemorySegment target, long count) {
    check(offset, count);
    downloadFrom(stream, target, address + offset, count);
  }

  /** Copies the whole source into this memory at an offset. */
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

  /**
   * Copies the first bytes of memory that may be of another device.
   *
   * @param stream of this memory's device
   */
  public void copyFrom(CudaStream stream, DeviceMemory source, long count) {
    check(0, count);
    source.check(0, count);
    try {
      Driver.check(
          (int)
              COPY_PEER.invokeExact(
                  address,
                  context.handle(),
                  source.address,
                  source.context.handle(),
                  count,
                  stream.handle()),
          "cuMemcpyPeerAsync");
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }

  /** Copies between two device addresses. */
  public static void copy(CudaStream stream, long to, long from, long count) {
    try {
      Driver.check((int) COPY.invokeExact(to, from, count, stream.handle()), "cuMemcpyDtoDAsync");
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }

  /** Copies from off-heap memory to a device address. */
  public static void uploadTo(CudaStream stream, long to, MemorySegment source, long count) {
    try {
      Driver.check(
          (int) UPLOAD.invokeExact(to, checked(source, count), count, stream.handle()),
          "cuMemcpyHtoDAsync");
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }

  /** Copies from a device address to off-heap memory. */
  public static void downloadFrom(CudaStream stream, MemorySegment target, long from, long count) {
    try {
      Driver.check(
          (int) DOWNLOAD.invokeExact(checked(target, count), from, count, stream.handle()),
          "cuMemcpyDtoHAsync");
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }

  /** Checks that off-heap memory has so many bytes; a slice would be garbage in every step. */
  private static MemorySegment checked(MemorySegment memory, long count) {
    Objects.checkFromIndexSize(0, count, memory.byteSize());
    return memory;
  }

  public void fill(CudaStream stream, byte value) {
    try {
      Driver.check(
          (int) FILL.invokeExact(address, value, bytes, stream.handle()), "cuMemsetD8Async");
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }

  /** Sets bytes at a device address to zero. */
  public static void clear(CudaStream stream, long from, long count) {
    try {
      Driver.check(
          (int) FILL.invokeExact(from, (byte) 0, count, stream.handle()), "cuMemsetD8Async");
    } catch (Throwable e) {
      throw Driver.unexpected(e);
    }
  }

  /**
   * Fills the memory with random bytes for benchmarks. Every fp16 number among them is below two,
   * so none is infinite.
   */
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

  /** Fills the memory with copies of a byte pattern; the last copy may be cut off. */
  public void fillRepeating(CudaStream stream, int count, BiConsumer<byte[], Random> maker) {
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
      throw new IllegalStateException("the memory was freed");
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
