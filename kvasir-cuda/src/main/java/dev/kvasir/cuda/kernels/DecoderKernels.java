package dev.kvasir.cuda.kernels;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.Kernel;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.driver.Launch;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.RopeLayout;
import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;

/**
 * The kernels of a decoder step other than attention. Each waits for the previous one, except
 * products of a few rows, which fetch weights before it has ended ({@link BlockGemv}).
 */
public final class DecoderKernels implements AutoCloseable {
  private static final int ROW_THREADS = 1024;
  private static final int PART_THREADS = 256;
  private static final int PART_COLUMNS = 1024;
  private static final int ROTATE_BYTES = 96;

  /** Rows from which on heads share a thread block, and the angles that it computes. */
  private static final int MANY_ROWS = 32;

  private static final int HEADS_PER_BLOCK = 8;
  private static final int WEIGHTS_BYTES = 24;

  private final CudaStream stream;
  private final Map<WeightFormat, Launch> embed = new EnumMap<>(WeightFormat.class);
  private final Launch normalize;
  private final Launch activate;
  private final Launch quantizeHalves;
  private final Launch rotate;
  private final Launch argmaxLaunch;
  private final DeviceGemm gemm;
  private final BlockKernels blocks; // null if no weights are in blocks

  /** Loads the kernels for the formats of some weights; to load all of them takes a while. */
  public DecoderKernels(
      KernelModule module, CudaStream stream, ModelConfig config, DeviceWeights weights) {
    this(module, stream, config, weights.formats());
  }

  DecoderKernels(
      KernelModule module, CudaStream stream, ModelConfig config, Set<WeightFormat> formats) {
    this.stream = stream;
    this.normalize =
        new Launch(module.kernel("add_and_normalize"), 8, 8, 8, 4, 4, 8, DeviceActivations.BYTES)
            .block(ROW_THREADS);
    this.activate =
        new Launch(module.kernel("activate"), 8, 4, DeviceActivations.BYTES).block(PART_THREADS);
    this.quantizeHalves =
        new Launch(module.kernel("code_halves"), 8, 4, DeviceActivations.BYTES).block(PART_THREADS);
    this.argmaxLaunch = new Launch(module.kernel("likeliest"), 8, 4, 8).block(ROW_THREADS);
    this.rotate =
        new Launch(module.kernel("turn_d" + config.headDim()), ROTATE_BYTES)
            .block(config.headDim() / 2);
    this.gemm = new DeviceGemm(module, stream, formats);
    this.blocks =
        formats.stream().anyMatch(WeightFormat::isBlocked)
            ? new BlockKernels(module, stream, config, formats)
            : null;
    for (WeightFormat format : formats) {
      Kernel embedding = module.kernel("embed_" + format.kernelName());
      // Weights in blocks have one address.
      int weightBytes = format.isBlocked() ? 8 : WEIGHTS_BYTES;
      embed.put(format, new Launch(embedding, weightBytes, 8, 4, 8).block(ROW_THREADS));
    }
    int epsilon = Float.floatToRawIntBits(config.normEpsilon());
    normalize.argument(3, epsilon).argument(4, config.hidden());
    rotate.arguments().set(JAVA_INT, 72, config.queryHeads());
    rotate.arguments().set(JAVA_INT, 76, config.kvHeads());
    rotate.arguments().set(JAVA_INT, 80, config.rope().dimensions() / 2);
    rotate.arguments().set(JAVA_INT, 84, config.rope().layout() == RopeLayout.INTERLEAVED ? 1 : 0);
    rotate.arguments().set(JAVA_INT, 88, epsilon);
  }

  /** Looks up the embeddings, as the first kernel of a step. */
  public void embed(StackedMatrices embedding, long tokens, int rows, DeviceMemory x) {
    DeviceMatrix matrix = embedding.parts().getFirst();
    Launch launch = embed.get(matrix.format());
    if (matrix.format().isBlocked()) {
      launch.argument(0, matrix.codes().address());
    } else {
      matrix.set(launch.arguments());
    }
    launch
        .grid(rows, 1, 1)
        .argument(1, tokens)
        .argument(2, matrix.columns())
        .argument(3, x.address())
        .on(stream);
  }

  /**
   * Adds an update and writes the norm in the forms that the matrices of a stack multiply.
   *
   * @param update added to {@code x} first; null for none
   * @param rowOf device address of row indices; 0 for all rows
   */
  public void normalize(
      DeviceMemory x,
      DeviceMemory update,
      DeviceMemory weight,
      RowCounts rows,
      long rowOf,
      StackedMatrices stack,
      DeviceActivations out) {
    DeviceMemory added = update;
    if (stack.hasChunks()) {
      normalize
          .grid(rows.all(), 1, 1)
          .argument(0, x.address())
          .argument(1, DeviceMatrix.address(added))
          .argument(2, weight.address())
          .argument(5, rowOf);
      out.set(normalize, 6);
      normalize.on(stream);
      added = null;
    }
    if (stack.hasBlocks()) {
      blocks.normalize(x, added, weight, rows, rowOf, out.blocks());
    }
  }

  /**
   * @param out (rows, matrix rows)
   */
  public void multiply(
      StackedMatrices stack, DeviceActivations activations, RowCounts rows, DeviceMemory out) {
    int stride = stack.rows();
    long to = out.address();
    for (DeviceMatrix matrix : stack.parts()) {
      if (matrix.format().isBlocked()) {
        blocks.multiply(matrix, activations.blocks(), rows, to, stride);
      } else {
        gemm.multiply(matrix, activations, rows.all(), to, stride);
      }
      to += (long) matrix.rows() * Float.BYTES;
    }
  }

  public void argmax(DeviceMemory logits, int vocabulary, int rows, DeviceMemory tokens) {
    argmaxLaunch
        .grid(rows, 1, 1)
        .argument(0, logits.address())
        .argument(1, vocabulary)
        .argument(2, tokens.address())
        .on(stream);
  }

  /** Applies the activation function, in the forms that the matrices of a stack multiply. */
  public void activate(
      DeviceMemory gateAndUp,
      int columns,
      RowCounts rows,
      StackedMatrices stack,
      DeviceActivations out) {
    if (stack.hasChunks()) {
      activate
          .grid(rows.all(), Math.ceilDiv(columns, PART_COLUMNS), 1)
          .argument(0, gateAndUp.address())
          .argument(1, columns);
      out.set(activate, 2);
      activate.on(stream);
    }
    if (stack.hasBlocks()) {
      blocks.activate(gateAndUp, columns, rows, out.blocks());
    }
  }

  /** Converts halves to the forms that the matrices of a stack multiply. */
  public void convertHalves(
      DeviceMemory x, int columns, RowCounts rows, StackedMatrices stack, DeviceActivations out) {
    if (stack.hasChunks()) {
      quantizeHalves
          .grid(rows.all(), Math.ceilDiv(columns, PART_COLUMNS), 1)
          .argument(0, x.address())
          .argument(1, columns);
      out.set(quantizeHalves, 2);
      quantizeHalves.on(stream);
    }
    if (stack.hasBlocks()) {
      blocks.convertHalves(x, columns, rows, out.blocks());
    }
  }

  /**
   * Adds biases, applies RoPE, and writes queries as halves and keys and values to their pages.
   *
   * @param positions device address of a u32 per row
   * @param slots device address, as in {@code KvAppendKernel.append}
   */
  public void rotate(
      DeviceMemory projected,
      DeviceWeights.Layer layer,
      DeviceMemory frequencies,
      long positions,
      long slots,
      long layerOffset,
      DeviceMemory queries,
      int rows) {
    MemorySegment argument = rotate.arguments();
    argument.set(JAVA_LONG, 0, projected.address());
    argument.set(JAVA_LONG, 8, DeviceMatrix.address(layer.bias()));
    argument.set(JAVA_LONG, 16, DeviceMatrix.address(layer.queryNorm()));
    argument.set(JAVA_LONG, 24, DeviceMatrix.address(layer.keyNorm()));
    argument.set(JAVA_LONG, 32, frequencies.address());
    argument.set(JAVA_LONG, 40, positions);
    argument.set(JAVA_LONG, 48, slots);
    argument.set(JAVA_LONG, 56, layerOffset);
    argument.set(JAVA_LONG, 64, queries.address());
    int heads = argument.get(JAVA_INT, 72) + 2 * argument.get(JAVA_INT, 76);
    int blocks = rows < MANY_ROWS ? heads : Math.ceilDiv(heads, HEADS_PER_BLOCK);
    rotate.grid(rows, blocks, 1).on(stream);
  }

  @Override
  public void close() {
    if (blocks != null) {
      blocks.close();
    }
  }
}
