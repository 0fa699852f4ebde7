package dev.kvasir.cuda.formats.commvq;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.driver.Launch;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.cuda.formats.PageQuantizer.LayerStrides;
import dev.kvasir.cuda.memory.Fp16Page;
import java.lang.foreign.MemorySegment;

/**
 * Encodes the values of a block of 128 tokens with networks, with the same bits as on the host.
 *
 * <p>The argument of the first and the last kernel, with the offsets in network.cuh:
 *
 * <pre>
 *  0 u64 pairs            24 u64 gain       48 u64 inputs    72 u64 words    88 u32 KV heads
 *  8 u64 fp16 stride      32 u64 shift      56 u64 lengths   80 u64 scales   92 u32 bits of a token
 * 16 u64 channel scales   40 u64 codebook   64 u64 logits
 * </pre>
 *
 * <p>That of a product: u64 inputs, u64 matrix, u64 bias, u64 outputs, u32 rows, u32 columns, u32
 * whether GELU follows.
 */
final class NetworkKernels implements AutoCloseable {
  /** Size of the argument. */
  static final int BYTES = 96;

  private static final int PRODUCT_BYTES = 48;
  private static final int THREADS = 256;
  private static final int TILE = 32; // tokens and rows of a thread block
  private static final int BLOCK_TOKENS = Fp16Page.BLOCK_PAGES * Fp16Page.TOKENS;
  private static final int WORD_BITS = 16;

  private final int kvHeads;
  private final int bits;
  private final int hidden;
  private final Launch normalize;
  private final Launch multiply;
  private final Launch choose;
  private final DeviceMemory inputs;
  private final DeviceMemory lengths;
  private final DeviceMemory active;
  private final DeviceMemory logits;
  private final DeviceMemory words;
  private final DeviceMemory scales;

  /**
   * @param layers layers of a block
   */
  NetworkKernels(KernelModule module, DeviceNetwork network, int kvHeads, int layers) {
    CudaContext context = module.context();
    int width = network.width();
    int headDim = width / kvHeads;
    this.kvHeads = kvHeads;
    this.bits = network.bits();
    this.hidden = network.hidden();
    this.normalize =
        new Launch(module.kernel("normalize_commvq_d" + headDim), BYTES).block(headDim);
    this.multiply = new Launch(module.kernel("multiply_commvq"), PRODUCT_BYTES).block(THREADS);
    this.choose =
        new Launch(module.kernel("choose_commvq"), BYTES, Integer.BYTES)
            .block(THREADS)
            .argument(1, width);
    long tokens = (long) layers * BLOCK_TOKENS;
    this.inputs = context.allocate(tokens * width * Float.BYTES);
    this.lengths = context.allocate(tokens * Float.BYTES);
    this.active = context.allocate(tokens * hidden * Float.BYTES);
    this.logits = context.allocate(tokens * 2 * bits * Float.BYTES);
    this.words = context.allocate(tokens * bits / WORD_BITS * Short.BYTES);
    this.scales = context.allocate(tokens * Short.BYTES);
  }

  void encode(CudaStream into, DeviceNetwork network, long pairs, LayerStrides all) {
    put(normalize.arguments(), 0, network, pairs, all);
    normalize.grid(BLOCK_TOKENS, all.count(), 1).on(into);
    MemorySegment argument = multiply.arguments();
    argument.set(JAVA_LONG, 0, inputs.address());
    argument.set(JAVA_LONG, 8, network.innerAddress());
    argument.set(JAVA_LONG, 16, network.innerBiasAddress());
    argument.set(JAVA_LONG, 24, active.address());
    multiply(into, hidden, network.width(), true, all.count());
    argument.set(JAVA_LONG, 0, active.address());
    argument.set(JAVA_LONG, 8, network.outerAddress());
    argument.set(JAVA_LONG, 16, network.outerBiasAddress());
    argument.set(JAVA_LONG, 24, logits.address());
    multiply(into, 2 * bits, hidden, false, all.count());
    put(choose.arguments(), 0, network, pairs, all);
    choose.grid(BLOCK_TOKENS, all.count(), 1).on(into);
  }

  private void multiply(CudaStream into, int rows, int columns, boolean gelu, int layers) {
    MemorySegment argument = multiply.arguments();
    argument.set(JAVA_INT, 32, rows);
    argument.set(JAVA_INT, 36, columns);
    argument.set(JAVA_INT, 40, gelu ? 1 : 0);
    multiply.grid(BLOCK_TOKENS / TILE, rows / TILE, layers).on(into);
  }

  void put(MemorySegment argument, int at, DeviceNetwork network, long pairs, LayerStrides all) {
    argument.set(JAVA_LONG, at, pairs);
    argument.set(JAVA_LONG, at + 8, all.fp16Stride());
    argument.set(JAVA_LONG, at + 16, network.channelScalesAddress());
    argument.set(JAVA_LONG, at + 24, network.gainAddress());
    argument.set(JAVA_LONG, at + 32, network.shiftAddress());
    argument.set(JAVA_LONG, at + 40, network.codebookAddress());
    argument.set(JAVA_LONG, at + 48, inputs.address());
    argument.set(JAVA_LONG, at + 56, lengths.address());
    argument.set(JAVA_LONG, at + 64, logits.address());
    argument.set(JAVA_LONG, at + 72, words.address());
    argument.set(JAVA_LONG, at + 80, scales.address());
    argument.set(JAVA_INT, at + 88, kvHeads);
    argument.set(JAVA_INT, at + 92, bits);
  }

  @Override
  public void close() {
    Resources.closeAll(inputs, lengths, active, logits, words, scales);
  }
}
