package dev.kvasir.cuda.formats;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.driver.Launch;

/** Writes new keys and values to their fp16 pages. Launches are asynchronous. */
public final class KvAppendKernel {
  private final int kvHeads;
  private final Launch append;

  public KvAppendKernel(KernelModule module, AttentionShape shape) {
    HeadBlocks.of(PageFormat.FP16, shape); // rejects heads without kernels
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
   * @param slots device address of a u64 per row: the page address of the first KV head, with the
   *     token's index in the lower six bits
   * @param layerOffset offset from those pages to the layer's pages
   * @param keys device address of halves // (rows, kvHeads, headDim)
   * @param values device address of halves, shaped like the keys
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
