package dev.kvasir.cuda.kernels;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.Resources;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The experts of a layer on a device. All matrices of one kind have the same shape and format, in
 * chunks, so that one launch multiplies the rows of all routed experts; it finds the weights of an
 * expert in a table.
 *
 * @param gateAndUp of each expert // (2 * width, hidden)
 * @param down of each expert // (hidden, width)
 * @param gateAndUpTable addresses of the codes, scales and minimums of each expert
 * @param downTable the same for {@code down}
 * @param biases null if there are none
 * @param shared null if there is none
 * @param inputs all matrices that multiply the normalized rows
 */
record DeviceExperts(
    DeviceRouter router,
    List<StackedMatrices> gateAndUp,
    List<StackedMatrices> down,
    DeviceMemory gateAndUpTable,
    DeviceMemory downTable,
    ExpertBiases biases,
    SharedExpert shared,
    StackedMatrices inputs)
    implements AutoCloseable {
  /** Bytes of the addresses of a matrix. */
  private static final int WEIGHTS_BYTES = 24;

  static DeviceExperts of(
      CudaContext context,
      CudaStream stream,
      DeviceRouter router,
      List<StackedMatrices> gateAndUp,
      List<StackedMatrices> down,
      ExpertBiases biases,
      SharedExpert shared) {
    List<DeviceMatrix> inputs = new ArrayList<>(gateAndUp.getFirst().parts());
    if (shared != null) {
      inputs.addAll(shared.gateAndUp().parts());
    }
    return new DeviceExperts(
        router,
        gateAndUp,
        down,
        table(context, stream, gateAndUp),
        table(context, stream, down),
        biases,
        shared,
        new StackedMatrices(List.copyOf(inputs)));
  }

  private static DeviceMemory table(
      CudaContext context, CudaStream stream, List<StackedMatrices> experts) {
    DeviceMemory memory = context.allocate((long) WEIGHTS_BYTES * experts.size());
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment table = arena.allocate(memory.bytes(), JAVA_LONG.byteAlignment());
      for (int expert = 0; expert < experts.size(); expert++) {
        matrix(experts, expert).set(table.asSlice((long) WEIGHTS_BYTES * expert));
      }
      memory.upload(stream, 0, table, table.byteSize());
      stream.synchronize();
    }
    return memory;
  }

  private static DeviceMatrix matrix(List<StackedMatrices> experts, int expert) {
    return experts.get(expert).parts().getFirst();
  }

  /** Returns the matrix of the first expert, whose shape and format all have. */
  DeviceMatrix firstGateAndUp() {
    return matrix(gateAndUp, 0);
  }

  /** Returns the matrix of the first expert, whose shape and format all have. */
  DeviceMatrix firstDown() {
    return matrix(down, 0);
  }

  /** Returns the matrices of the routed experts. */
  Stream<StackedMatrices> routed() {
    return Stream.concat(gateAndUp.stream(), down.stream());
  }

  /** Returns the matrices of all experts. */
  Stream<StackedMatrices> matrices() {
    return shared == null ? routed() : Stream.concat(routed(), shared.matrices());
  }

  long bytes() {
    return router.bytes()
        + gateAndUpTable.bytes()
        + downTable.bytes()
        + (biases == null ? 0 : biases.bytes())
        + matrices().mapToLong(StackedMatrices::bytes).sum();
  }

  @Override
  public void close() {
    Resources.closeAll(
        Stream.concat(Stream.of(router, gateAndUpTable, downTable, biases), matrices())
            .toArray(AutoCloseable[]::new));
  }
}
