package dev.kvasir.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * An open device with everything a test needs. Tests that open one are marked with {@link
 * NeedsDevice}.
 */
public final class DeviceFixture implements AutoCloseable {
  public final CudaContext context;
  public final KernelModule module;
  public final CudaStream stream;
  private final Arena arena = Arena.ofShared();
  private final List<AutoCloseable> owned = new ArrayList<>();

  private DeviceFixture() {
    this.context = CudaContext.open();
    this.module = KernelModule.load(context);
    this.stream = CudaStream.open();
  }

  public static DeviceFixture open() {
    return new DeviceFixture();
  }

  /** Registers a resource that is closed before the device. */
  public <T extends AutoCloseable> T own(T each) {
    owned.add(each);
    return each;
  }

  public DeviceMemory memory(long bytes) {
    return own(context.allocate(bytes));
  }

  public DeviceMemory upload(MemorySegment source) {
    DeviceMemory memory = memory(source.byteSize());
    memory.upload(stream, 0, source, source.byteSize());
    stream.synchronize();
    return memory;
  }

  public MemorySegment download(DeviceMemory memory) {
    MemorySegment target = host(memory.bytes());
    memory.download(stream, 0, target, memory.bytes());
    stream.synchronize();
    return target;
  }

  public MemorySegment host(long bytes) {
    return arena.allocate(bytes, 64);
  }

  @Override
  public void close() {
    try {
      for (AutoCloseable each : owned.reversed()) {
        each.close();
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    stream.close();
    module.close();
    arena.close();
    long left = context.allocatedBytes();
    context.close();
    assertThat(left).as("bytes that were not given back").isZero();
  }
}
