package dev.kvasir.cuda.formats.patternkv;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.Kernel;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.driver.Launch;
import dev.kvasir.cuda.formats.DequantizeKernel;
import dev.kvasir.cuda.formats.HeadBlocks;
import dev.kvasir.cuda.formats.PageQuantizer;
import dev.kvasir.cuda.formats.ScaleGroups;
import dev.kvasir.cuda.memory.Fp16Page;

/**
 * Quantizes pages to patterns and residual codes, with the same bits as the host codec. It adds the
 * new pattern of a block, picks a pattern for each key and value, and quantizes the residuals.
 *
 * <p>Metadata of a block, as BlockBank in patterns.cuh:
 *
 * <pre>
 * u64 (8) bank pages; u32 patterns; u32 index of the new pattern, 256 for none
 * </pre>
 */
final class PatternPageQuantizer implements PageQuantizer {
  /** Longs per block. */
  static final int METADATA_LONGS = PatternPage.MAX_BANKS + 1;

  private static final int THREADS = 256;

  private final int kvHeads;
  private final Launch grow;
  private final Launch label;
  private final Launch quantize;
  private final DequantizeKernel dequantize;

  PatternPageQuantizer(
      KernelModule module,
      PatternkvFormat format,
      AttentionShape shape,
      int keyGroup,
      int valueGroup) {
    HeadBlocks.of(format, shape); // rejects heads without kernels
    ScaleGroups.check(keyGroup, valueGroup);
    this.kvHeads = shape.kvHeads();
    String names = "%s_d%d".formatted(format.kernelName(), shape.headDim());
    this.grow = new Launch(module.kernel("grow_" + names), 8, 8, 8, 8, 8).block(shape.headDim());
    this.label =
        new Launch(module.kernel("label_" + names), 8, 8, 8, 8, 8, Double.BYTES)
            .block(THREADS)
            .argument(5, Double.doubleToRawLongBits(format.largestRatio(shape.headDim())));
    Kernel quantizeKernel = module.kernel("pack_" + names);
    int sharedBytes = ScaleGroups.sharedBytes(shape.headDim());
    quantizeKernel.allowSharedBytes(sharedBytes);
    this.quantize =
        new Launch(quantizeKernel, 8, 8, 8, 8, 8, Integer.BYTES, Integer.BYTES)
            .block(THREADS)
            .shared(sharedBytes)
            .argument(5, keyGroup)
            .argument(6, valueGroup);
    this.dequantize = new DequantizeKernel(module.kernel("unpack_" + names), kvHeads, 8, 8);
  }

  @Override
  public int metadataLongs() {
    return METADATA_LONGS;
  }

  @Override
  public void quantize(
      CudaStream stream, int pages, long pairs, long metadata, LayerStrides layers) {
    if (pages % Fp16Page.BLOCK_PAGES != 0) {
      throw new IllegalArgumentException(
          "pages is %d; expected pairs of them, which share patterns".formatted(pages));
    }
    int blocks = pages / Fp16Page.BLOCK_PAGES;
    launch(grow, stream, blocks, 2 * layers.count(), pairs, metadata, layers);
    launch(label, stream, pages, 2 * layers.count(), pairs, metadata, layers);
    launch(quantize, stream, pages, layers.count(), pairs, metadata, layers);
  }

  @Override
  public void dequantize(
      CudaStream stream, int pages, long pairs, long metadata, LayerStrides layers) {
    dequantize
        .prepare(pages, pairs, layers)
        .argument(1, metadata)
        .argument(2, layers.tableStride())
        .on(stream);
  }

  private void launch(
      Launch launch,
      CudaStream stream,
      int count,
      int depth,
      long pairs,
      long metadata,
      LayerStrides layers) {
    launch
        .grid(count, kvHeads, depth)
        .argument(0, pairs)
        .argument(1, metadata)
        .argument(2, layers.fp16Stride())
        .argument(3, layers.packedStride())
        .argument(4, layers.tableStride())
        .on(stream);
  }
}
