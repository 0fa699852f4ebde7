package dev.kvasir.cuda.formats.kivi;

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
import java.util.Arrays;

/**
 * Quantizes pages to uniform codes with the same bits as the host codec for the same groups. A
 * scale is stored for every 32 numbers, even if a larger group shares it.
 */
public final class KiviPageQuantizer implements PageQuantizer {
  private static final int THREADS = 256;
  private static final int[] ARGUMENTS = {
    Long.BYTES, Long.BYTES, Long.BYTES, Integer.BYTES, Integer.BYTES
  };

  private final int kvHeads;
  private final int keyGroup;
  private final Launch quantize;
  private final DequantizeKernel dequantize;

  /**
   * @param keyGroup tokens that share a channel's scale: 32, 64, or 128, which are the two pages of
   *     a block
   * @param valueGroup channels that share a token's scale: a multiple of 32
   */
  public KiviPageQuantizer(
      KernelModule module, KiviFormat format, AttentionShape shape, int keyGroup, int valueGroup) {
    HeadBlocks.of(format, shape); // rejects heads without kernels
    ScaleGroups.check(keyGroup, valueGroup);
    this.kvHeads = shape.kvHeads();
    this.keyGroup = keyGroup;
    String names = "%s_d%d".formatted(format.kernelName(), shape.headDim());
    Kernel quantizeKernel = module.kernel("pack_" + names);
    Kernel dequantizeKernel = module.kernel("unpack_" + names);
    if (format.hasOwnKernels()) {
      this.quantize = new Launch(quantizeKernel, ARGUMENTS);
      this.dequantize = new DequantizeKernel(dequantizeKernel, kvHeads);
    } else {
      this.quantize = newLaunch(quantizeKernel, format, shape);
      this.dequantize = newDequantizeKernel(dequantizeKernel, format, shape);
    }
    int sharedBytes = ScaleGroups.sharedBytes(shape.headDim());
    quantizeKernel.allowSharedBytes(sharedBytes);
    quantize.block(THREADS).shared(sharedBytes).argument(3, keyGroup).argument(4, valueGroup);
  }

  private static Launch newLaunch(Kernel kernel, KiviFormat format, AttentionShape shape) {
    int last = ARGUMENTS.length;
    int[] arguments = Arrays.copyOf(ARGUMENTS, last + 1);
    arguments[last] = LayerCodes.BYTES;
    Launch launch = new Launch(kernel, arguments);
    LayerCodes.write(format, shape, launch.arguments(), launch.offset(last));
    return launch;
  }

  private static DequantizeKernel newDequantizeKernel(
      Kernel kernel, KiviFormat format, AttentionShape shape) {
    DequantizeKernel made = new DequantizeKernel(kernel, shape.kvHeads(), LayerCodes.BYTES);
    Launch launch = made.launch();
    LayerCodes.write(format, shape, launch.arguments(), launch.offset(1));
    return made;
  }

  @Override
  public void quantize(
      CudaStream stream, int pages, long pairs, long metadata, LayerStrides layers) {
    if (keyGroup == 2 * Fp16Page.TOKENS && pages % 2 != 0) {
      throw new IllegalArgumentException(
          "pages is %d; expected pairs of them, which share scales".formatted(pages));
    }
    quantize
        .grid(pages, kvHeads, layers.count())
        .argument(0, pairs)
        .argument(1, layers.fp16Stride())
        .argument(2, layers.packedStride())
        .on(stream);
  }

  @Override
  public void dequantize(
      CudaStream stream, int pages, long pairs, long metadata, LayerStrides layers) {
    dequantize.prepare(pages, pairs, layers).on(stream);
  }
}
