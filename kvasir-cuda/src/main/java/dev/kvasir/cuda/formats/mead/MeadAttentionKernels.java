package dev.kvasir.cuda.formats.mead;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.driver.Launch;
import dev.kvasir.cuda.formats.AuxiliaryKernels;
import java.lang.foreign.MemorySegment;

/**
 * Supplies attention with tables, and transforms its sums of components back to channels.
 *
 * <p>The argument of the transform, with the offsets in mead.cuh; {@link DeviceTables} follow:
 *
 * <pre>
 * 0 u64 sums (rows, 2, headDim)   8 u64 outputs   16 u32 layer   20 u32 sharing
 * </pre>
 */
final class MeadAttentionKernels implements AuxiliaryKernels {
  private static final int ARGUMENT_BYTES = 24;

  /** Query heads of a thread block. */
  private static final int HEADS = 4;

  private final MeadModel model;
  private final DeviceTables tables;
  private final AttentionShape shape;
  private final Launch finish;
  private final DeviceMemory
      sums; // (sequences, queryHeads, channels of fp16 tokens and components)

  MeadAttentionKernels(
      KernelModule module,
      CudaStream stream,
      MeadModel model,
      AttentionShape shape,
      int maxSequences) {
    this.model = model;
    this.tables = model.open(module.context(), stream);
    this.shape = shape;
    this.sums =
        module
            .context()
            .allocate(
                (long) maxSequences
                    * shape.queryHeads()
                    * accumulatorSize(shape.headDim())
                    * Float.BYTES);
    this.finish =
        new Launch(
                module.kernel("finish_mead_d" + shape.headDim()),
                ARGUMENT_BYTES,
                DeviceTables.BYTES)
            .block(shape.headDim());
    MemorySegment argument = finish.arguments();
    argument.set(JAVA_LONG, 0, sums.address());
    argument.set(JAVA_INT, 20, shape.queriesPerKvHead());
    tables.put(argument, finish.offset(1));
  }

  @Override
  public int accumulatorSize(int headDim) {
    return 2 * headDim;
  }

  @Override
  public long tableAddress(int layer) {
    return tables.layerAddress(layer);
  }

  @Override
  public long workspaceAddress() {
    return sums.address();
  }

  @Override
  public void epilogue(CudaStream stream, Call call) {
    MemorySegment argument = finish.arguments();
    argument.set(JAVA_LONG, 8, call.outputs());
    argument.set(JAVA_INT, 16, call.offsets().layer());
    finish
        .grid(
            Math.ceilDiv(shape.queriesPerKvHead(), HEADS),
            shape.kvHeads(),
            call.table().sequences())
        .on(stream);
  }

  @Override
  public void close() {
    sums.close();
    model.close();
  }
}
