package dev.kvasir.cuda;

import dev.kvasir.attention.AttentionShape;

/** Brings new keys and values to their pages: a launch without a wait. */
public final class KvAppendKernel {
  private final int kvHeads;
  private final Launch append;

  public KvAppendKernel(KernelModule module, AttentionShape shape) {
    HeadBlocks.of(PageFormat.FP16, shape); // refuses heads without kernels
    this.kvHeads = shape.kvHeads();
    this.append =
        new Launch(
                module.kernel("append_d" + shape.headDim()),
                Long.BYTES,
                Long.BYTES,
                Long.BYTES,
                Long.BYTES)
            .block(shape.headDim() / 2);
  }

  /**
   * @param places on the device, a u64 for each row: the address of its page, of the first KV head,
   *     and in the lower six bits its token there
   * @param layerOffset from those pages to the layer's own
   * @param keys on the device, halves // (rows, kvHeads, headDim)
   * @param values like them
   */
  public void append(
      CudaStream stream, int rows, long slots, long layerOffset, long keys, long values) {
    append
        .grid(rows, kvHeads, 1)
        .argument(0, slots)
        .argument(1, layerOffset)
        .argument(2, keys)
        .argument(3, values)
        .on(stream);
  }
}
