package dev.kvasir.cuda.formats.mead;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceException;
import dev.kvasir.cuda.driver.Kernel;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.driver.Launch;
import dev.kvasir.cuda.formats.DequantizeKernel;
import dev.kvasir.cuda.formats.HeadBlocks;
import dev.kvasir.cuda.formats.PageQuantizer;
import dev.kvasir.cuda.memory.Fp16Page;
import java.lang.foreign.MemorySegment;

/**
 * Quantizes blocks of two pages with the same bits as the host where no attention has been
 * observed. Packed pages span all layers.
 *
 * <p>The argument of quantization, with the offsets in meadpack.cuh; {@link DeviceTables} follow:
 *
 * <pre>
 * 0 u64 pairs   8 u64 metadata   16 u64 fp16 stride   24 u32 metadata longs
 * </pre>
 */
final class MeadPageQuantizer implements PageQuantizer {
  private static final int ARGUMENT_BYTES = 32;
  private static final int THREADS = 256;
  private static final int BLOCK = Fp16Page.BLOCK_PAGES * Fp16Page.TOKENS;

  private final MeadModel model;
  private final CudaContext context;
  private final CudaStream stream;
  private final int kvHeads;
  private final Launch quantize;
  private final DequantizeKernel dequantize;
  private final int readingBytes;

  MeadPageQuantizer(
      KernelModule module, CudaStream stream, MeadFormat format, AttentionShape shape) {
    HeadBlocks.of(format, shape); // rejects heads without kernels
    this.model = format.model();
    this.context = module.context();
    this.stream = stream;
    this.kvHeads = shape.kvHeads();
    int headDim = shape.headDim();
    int packingBytes = packingBytes(headDim);
    if (packingBytes > context.device().sharedMemoryBytes()) {
      throw new DeviceException(
          "%s has %,d bytes of shared memory for a block; quantizing %s takes %,d"
              .formatted(
                  context.device().name(),
                  context.device().sharedMemoryBytes(),
                  format,
                  packingBytes));
    }
    Kernel packKernel = module.kernel("pack_mead_d" + headDim);
    packKernel.allowSharedBytes(packingBytes);
    this.quantize =
        new Launch(packKernel, ARGUMENT_BYTES, DeviceTables.BYTES)
            .block(THREADS)
            .shared(packingBytes);
    Kernel unpackKernel = module.kernel("unpack_mead_d" + headDim);
    this.readingBytes = readingBytes(headDim);
    unpackKernel.allowSharedBytes(readingBytes);
    this.dequantize = new DequantizeKernel(unpackKernel, kvHeads, DeviceTables.BYTES);
  }

  /** Returns the size of MeadPackingMemory. */
  static int packingBytes(int headDim) {
    return BLOCK * (headDim + 1) * Float.BYTES
        + BLOCK * Double.BYTES
        + BLOCK * (headDim + 2) * Short.BYTES
        + 2 * BLOCK * Integer.BYTES;
  }

  /** Returns the size of MeadReadingMemory. */
  static int readingBytes(int headDim) {
    return Fp16Page.TOKENS * ((headDim + 1) * Float.BYTES + 2 * Short.BYTES);
  }

  @Override
  public int metadataLongs() {
    return MeadSequenceTables.metadataLongs(model.parameters().needsTokenIds());
  }

  @Override
  public void quantize(CudaStream into, int pages, long pairs, long metadata, LayerStrides all) {
    MemorySegment argument = quantize.arguments();
    argument.set(JAVA_LONG, 0, pairs);
    argument.set(JAVA_LONG, 8, metadata);
    argument.set(JAVA_LONG, 16, all.fp16Stride());
    argument.set(JAVA_INT, 24, metadataLongs());
    model.open(context, stream).put(argument, quantize.offset(1));
    quantize.grid(pages / Fp16Page.BLOCK_PAGES, kvHeads, all.count()).on(into);
  }

  @Override
  public void dequantize(CudaStream into, int pages, long pairs, long metadata, LayerStrides all) {
    Launch launch = dequantize.prepare(pages, pairs, all);
    model.open(context, stream).put(launch.arguments(), launch.offset(1));
    launch.shared(readingBytes).on(into);
  }
}
