package dev.kvasir.cuda.formats.patternkv;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.patternkv.PatternChoice;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.Kernel;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.driver.Launch;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.cuda.formats.DequantizeKernel;
import dev.kvasir.cuda.formats.HeadBlocks;
import dev.kvasir.cuda.formats.PageQuantizer;
import dev.kvasir.cuda.formats.ScaleGroups;
import dev.kvasir.cuda.memory.Fp16Page;
import java.lang.foreign.MemorySegment;

/**
 * Quantizes pages to patterns and residual codes, with the same bits as the host codec. It adds the
 * new pattern of a block, picks a pattern for each key and value, and quantizes the residuals.
 *
 * <p>Metadata of a block, and the first argument of the kernels that quantize, with the offsets in
 * residuals.cuh:
 *
 * <pre>
 * u64 (8) bank pages; u32 patterns; u32 index of the new pattern, 256 for none; u64 {@link KeyRotation#turn}
 *
 *  0 u64 pairs      16 u64 fp16 stride     32 u64 table stride   48 u32 sides
 *  8 u64 metadata   24 u64 packed stride   40 u64 rotation       52 u32 choice
 * </pre>
 */
final class PatternPageQuantizer implements PageQuantizer {
  /** Longs per block. */
  static final int METADATA_LONGS = PatternPage.MAX_BANKS + 2;

  private static final int ARGUMENT_BYTES = 56;

  private static final int THREADS = 256;

  private final int kvHeads;
  private final int sides;
  private final int choice;
  private final DeviceMemory rotation; // null if patterns do not rotate
  private final Launch grow;
  private final Launch label;
  private final Launch quantize;
  private final DequantizeKernel dequantize;

  PatternPageQuantizer(
      KernelModule module,
      CudaStream stream,
      PatternkvFormat format,
      AttentionShape shape,
      int keyGroup,
      int valueGroup) {
    HeadBlocks.of(format, shape); // rejects heads without kernels
    ScaleGroups.check(keyGroup, valueGroup);
    this.kvHeads = shape.kvHeads();
    this.sides = format.sides();
    this.choice = choice(format.choice());
    this.rotation =
        format
            .rotation()
            .map(keys -> keys.upload(module.context(), stream, shape.headDim()))
            .orElse(null);
    String names = "patterns%d_d%d".formatted(format.bits(), shape.headDim());
    this.grow =
        new Launch(module.kernel("grow_" + names), ARGUMENT_BYTES).block(shape.headDim() / 2);
    this.label =
        new Launch(module.kernel("label_" + names), ARGUMENT_BYTES, Double.BYTES)
            .block(THREADS)
            .argument(1, Double.doubleToRawLongBits(format.largestRatio(shape.headDim())));
    Kernel quantizeKernel = module.kernel("pack_" + names);
    int sharedBytes = ScaleGroups.sharedBytes(shape.headDim());
    quantizeKernel.allowSharedBytes(sharedBytes);
    this.quantize =
        new Launch(quantizeKernel, ARGUMENT_BYTES, Integer.BYTES, Integer.BYTES)
            .block(THREADS)
            .shared(sharedBytes)
            .argument(1, keyGroup)
            .argument(2, valueGroup);
    this.dequantize = new DequantizeKernel(module.kernel("unpack_" + names), kvHeads, 8, 8, 8);
  }

  private static int choice(PatternChoice choice) {
    return switch (choice) {
      case RANGE -> 0;
      case DISTANCE -> 1;
      case PEAKS -> 2;
    };
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
        .argument(3, rotationAddress())
        .on(stream);
  }

  private long rotationAddress() {
    return rotation == null ? 0 : rotation.address();
  }

  private void launch(
      Launch launch,
      CudaStream stream,
      int count,
      int depth,
      long pairs,
      long metadata,
      LayerStrides layers) {
    MemorySegment argument = launch.arguments();
    argument.set(JAVA_LONG, 0, pairs);
    argument.set(JAVA_LONG, 8, metadata);
    argument.set(JAVA_LONG, 16, layers.fp16Stride());
    argument.set(JAVA_LONG, 24, layers.packedStride());
    argument.set(JAVA_LONG, 32, layers.tableStride());
    argument.set(JAVA_LONG, 40, rotationAddress());
    argument.set(JAVA_INT, 48, sides);
    argument.set(JAVA_INT, 52, choice);
    launch.grid(count, kvHeads, depth).on(stream);
  }

  @Override
  public void close() {
    Resources.closeAll(rotation);
  }
}
