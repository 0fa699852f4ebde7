package dev.kvasir.cuda.formats.mixkvq;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.Kernel;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.driver.Launch;
import dev.kvasir.cuda.formats.AuxiliaryKernels;
import dev.kvasir.cuda.memory.PrefillChunks;
import java.lang.foreign.MemorySegment;

/**
 * Adds the magnitude of each attending query, channel by channel, to the sums of its sequence
 * ({@link DeviceQueryMagnitudes}).
 *
 * <p>Its argument, with the offsets in mixed.cuh:
 *
 * <pre>
 *  0 u64 sequences   16 u64 entries   32 u64 offset
 *  8 u64 chunks      24 u64 queries   40 u32 sharing
 * </pre>
 */
final class QueryMagnitudeKernels implements AuxiliaryKernels {
  private static final int ARGUMENT_BYTES = 48;
  private static final int BLOCK_ROWS = 32;

  private final int kvHeads;
  private final Launch observePrefill;
  private final Launch observeChunks;

  QueryMagnitudeKernels(KernelModule module, AttentionShape shape) {
    this.kvHeads = shape.kvHeads();
    this.observePrefill = launch(module, "see_queries", shape);
    this.observeChunks = launch(module, "see_runs", shape);
  }

  private static Launch launch(KernelModule module, String name, AttentionShape shape) {
    Kernel kernel = module.kernel("%s_d%d".formatted(name, shape.headDim()));
    Launch launch = new Launch(kernel, ARGUMENT_BYTES).block(shape.headDim());
    launch.arguments().set(JAVA_INT, 40, shape.queriesPerKvHead());
    return launch;
  }

  @Override
  public void prologue(CudaStream stream, Call call) {
    set(observePrefill, call);
    observePrefill.arguments().set(JAVA_LONG, 0, call.table().sequencesAddress());
    observePrefill.grid(call.table().sequences(), kvHeads, 1).on(stream);
  }

  @Override
  public void observePrefill(CudaStream stream, PrefillChunks chunks, Call call) {
    set(observeChunks, call);
    observeChunks.arguments().set(JAVA_LONG, 8, chunks.address());
    observeChunks
        .grid(Math.ceilDiv(chunks.maxRows(), BLOCK_ROWS), kvHeads, chunks.count())
        .on(stream);
  }

  private static void set(Launch launch, Call call) {
    MemorySegment argument = launch.arguments();
    argument.set(JAVA_LONG, 16, call.table().entriesAddress());
    argument.set(JAVA_LONG, 24, call.queries());
    argument.set(JAVA_LONG, 32, call.offsets().tables());
  }

  @Override
  public void close() {}
}
