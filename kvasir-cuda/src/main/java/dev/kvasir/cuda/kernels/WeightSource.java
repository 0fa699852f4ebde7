package dev.kvasir.cuda.kernels;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.model.TensorNames.Part;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Uploads the tensors of a decoder to a device and owns their memory. */
abstract sealed class WeightSource implements AutoCloseable
    permits FileWeightSource, RandomWeightSource {
  private final CudaContext context;
  private final CudaStream stream;
  private final List<AutoCloseable> owned = new ArrayList<>();
  private long bytes;

  WeightSource(CudaContext context, CudaStream stream) {
    this.context = context;
    this.stream = stream;
  }

  /** Loads the embedding. */
  final StackedMatrices embedding() {
    return own(loadEmbedding(context, stream));
  }

  /** Loads the weights of the output layer; empty if they are those of the embedding. */
  final Optional<StackedMatrices> output() {
    return loadOutput(context, stream).map(this::own);
  }

  /** Loads the matrices of some parts of a layer, which have one width, stacked vertically. */
  final StackedMatrices matrix(int layer, Part... parts) {
    return own(loadMatrix(context, stream, layer, List.of(parts)));
  }

  private StackedMatrices own(StackedMatrices made) {
    owned.add(made);
    bytes += made.bytes();
    return made;
  }

  /** Loads the routed experts of a layer. */
  final DeviceExperts experts(int layer) {
    DeviceExperts made = loadExperts(context, stream, layer);
    owned.add(made);
    bytes += made.bytes();
    return made;
  }

  abstract StackedMatrices loadEmbedding(CudaContext context, CudaStream stream);

  abstract Optional<StackedMatrices> loadOutput(CudaContext context, CudaStream stream);

  abstract StackedMatrices loadMatrix(
      CudaContext context, CudaStream stream, int layer, List<Part> parts);

  abstract DeviceExperts loadExperts(CudaContext context, CudaStream stream, int layer);

  abstract DeviceMemory outputNorm();

  /** Loads the norm of a part; null if the layer has none. */
  abstract DeviceMemory norm(int layer, Part part);

  /** Loads the biases of some parts of a layer, concatenated; null if it has none. */
  abstract DeviceMemory biases(int layer, Part... parts);

  /** Loads the scores of a layer's learned attention sinks; empty if it has none. */
  abstract Optional<float[]> sinkScores(int layer);

  final DeviceMemory floats(float[] numbers) {
    DeviceMemory memory = upload(context, stream, numbers);
    owned.add(memory);
    bytes += memory.bytes();
    return memory;
  }

  static DeviceMemory upload(CudaContext context, CudaStream stream, float[] numbers) {
    DeviceMemory memory = context.allocate((long) numbers.length * Float.BYTES);
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
