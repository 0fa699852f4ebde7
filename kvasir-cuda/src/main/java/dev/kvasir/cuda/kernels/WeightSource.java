package dev.kvasir.cuda.kernels;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.Resources;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** Uploads tensors to a device, by their names in GGUF files, and owns their memory. */
abstract sealed class WeightSource implements AutoCloseable
    permits GgufWeightSource, RandomWeightSource {
  private final CudaContext context;
  private final CudaStream stream;
  private final List<AutoCloseable> owned = new ArrayList<>();
  private long bytes;

  WeightSource(CudaContext context, CudaStream stream) {
    this.context = context;
    this.stream = stream;
  }

  abstract boolean has(String name);

  /** Loads matrices of one width, stacked vertically. */
  final StackedMatrices matrix(String... names) {
    StackedMatrices made = loadMatrix(context, stream, List.of(names));
    owned.add(made);
    bytes += made.bytes();
    return made;
  }

  abstract StackedMatrices loadMatrix(CudaContext context, CudaStream stream, List<String> names);

  /** Loads vectors, concatenated. */
  abstract DeviceMemory vector(String... names);

  final DeviceMemory floats(float[] numbers) {
    DeviceMemory memory = context.allocate((long) numbers.length * Float.BYTES);
    owned.add(memory);
    bytes += memory.bytes();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment copy = arena.allocateFrom(JAVA_FLOAT, numbers);
      memory.upload(stream, 0, copy, copy.byteSize());
      stream.synchronize();
    }
    return memory;
  }

  /** Returns the bytes of all uploaded tensors. */
  final long bytes() {
    return bytes;
  }

  @Override
  public final void close() {
    Resources.closeAll(owned);
  }
}
