package dev.kvasir.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * A device with all that a test needs of it; a test that opens one is marked with {@link
 * NeedsDevice}.
 */
final class OpenDevice implements AutoCloseable {
  final Context context;
  final KernelModule module;
  final Stream stream;
  private final Arena arena = Arena.ofShared();
  private final List<AutoCloseable> taken = new ArrayList<>();

  private OpenDevice() {
    this.context = Context.open();
    this.module = KernelModule.load(context);
    this.stream = Stream.open();
  }

  static OpenDevice open() {
    return new OpenDevice();
  }

  /** Closed with the device, before it. */
  <T extends AutoCloseable> T keep(T each) {
    taken.add(each);
    return each;
  }

  DeviceMemory memory(long bytes) {
    return keep(context.allocate(bytes));
  }

  DeviceMemory upload(MemorySegment source) {
    DeviceMemory memory = memory(source.byteSize());
    memory.upload(stream, 0, source, source.byteSize());
    stream.synchronize();
    return memory;
  }

  MemorySegment download(DeviceMemory memory) {
    MemorySegment target = host(memory.bytes());
    memory.download(stream, 0, target, memory.bytes());
    stream.synchronize();
    return target;
  }

  MemorySegment host(long bytes) {
    return arena.allocate(bytes, 64);
  }

  @Override
  public void close() {
    try {
      for (AutoCloseable each : taken.reversed()) {
        each.close();
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    stream.close();
    module.close();
    arena.close();
    long left = context.takenBytes();
    context.close();
    assertThat(left).as("bytes that were not given back").isZero();
  }
}
