package dev.kvasir.cuda.kernels;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.Kernel;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.driver.Launch;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.model.Activation;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.ModelConfig.RopeSettings;
import dev.kvasir.model.RopeLayout;
import dev.kvasir.model.RopePattern;
import dev.kvasir.model.Scales;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The kernels of a decoder step other than attention. Each waits for what the previous one writes.
 * Products of a few rows fetch weights before that ({@link BlockGemv}); in steps without prompts
 * all kernels {@linkplain #overlap start early}.
 */
public final class DecoderKernels implements AutoCloseable {
  static final int ROW_THREADS = 1024;
  static final int PART_THREADS = 256;
  static final int PART_COLUMNS = 1024;

  /** Rows up to which a thread takes as little of a row as it can: there are processors enough. */
  private static final int FEW_ROWS = 8;

  private static final int ROTATE_BYTES = 112;
  private static final int ALL_HEADS_BYTES = 40;
  private static final int ANGLE_BYTES = 2 * Float.BYTES;

  /** Rows from which on heads share a thread block, as starting more of them would take longer. */
  private static final int MANY_ROWS = 64;

  private static final int HEADS_PER_BLOCK = 4;
  private static final int WEIGHTS_BYTES = 24;

  private final CudaStream stream;
  private final ModelConfig config;
  private final Map<WeightFormat, Launch> embed = new EnumMap<>(WeightFormat.class);
  private final Launch normalize;
  private final Launch activate;
  private final Launch quantizeHalves;
  private final Launch rotate;
  private final Launch computeAngles;
  private final List<DeviceMemory> angles; // (rows, pairs) cosines and sines, by kind of RoPE
  private final Launch normalizeHeads;
  private final Launch finish;
  private final Launch cap;
  private final Launch argmaxLaunch;
  private final DeviceGemm gemm;
  private final BlockKernels blocks; // null if no weights are in blocks
  private final ExpertKernels experts; // null if no layer has experts

  /**
   * Loads the kernels for the formats of some weights; to load all of them takes a while.
   *
   * @param maxRows maximum rows of a step
   */
  public DecoderKernels(
      KernelModule module,
      CudaStream stream,
      ModelConfig config,
      DeviceWeights weights,
      int maxRows) {
    this(module, stream, config, weights.formats(), weights.layers(), maxRows);
  }

  DecoderKernels(
      KernelModule module, CudaStream stream, ModelConfig config, Set<WeightFormat> formats) {
    this(module, stream, config, formats, List.of(), 0);
  }

  private DecoderKernels(
      KernelModule module,
      CudaStream stream,
      ModelConfig config,
      Set<WeightFormat> formats,
      List<DeviceWeights.Layer> layers,
      int maxRows) {
    this.stream = stream;
    this.config = config;
    this.normalize =
        new Launch(module.kernel("add_and_normalize"), 8, 8, 8, 4, 4, 8, DeviceActivations.BYTES)
            .block(ROW_THREADS);
    this.activate =
        new Launch(
                module.kernel(gateKernel(config.architecture().activation())),
                8,
                4,
                DeviceActivations.BYTES)
            .block(PART_THREADS);
    this.quantizeHalves =
        new Launch(module.kernel("code_halves"), 8, 4, DeviceActivations.BYTES).block(PART_THREADS);
    this.argmaxLaunch = new Launch(module.kernel("likeliest"), 8, 4, 8).block(ROW_THREADS);
    this.rotate =
        new Launch(module.kernel("turn_d" + config.headDim()), ROTATE_BYTES)
            .block(config.headDim() / 2);
    this.computeAngles = new Launch(module.kernel("rotary_angles"), 8, 8, 8);
    this.angles =
        config.ropes().kinds().stream()
            .map(rope -> Math.max(1, maxRows) * (rope.dimensions() / 2L) * ANGLE_BYTES)
            .map(module.context()::allocate)
            .toList();
    this.normalizeHeads =
        new Launch(module.kernel("normalize_all_heads"), ALL_HEADS_BYTES).block(ROW_THREADS);
    this.finish = new Launch(module.kernel("finish_update"), 8, 8, 8, 4, 4, 4).block(ROW_THREADS);
    this.cap = new Launch(module.kernel("cap_logits"), 8, 4, 4, 4).block(PART_THREADS);
    this.gemm = new DeviceGemm(module, stream, formats);
    this.blocks =
        formats.stream().anyMatch(WeightFormat::isBlocked)
            ? new BlockKernels(module, stream, config, formats)
            : null;
    for (WeightFormat format : formats) {
      Kernel embedding = module.kernel("embed_" + format.kernelName());
      // Weights in blocks have one address.
      int weightBytes = format.isBlocked() ? 8 : WEIGHTS_BYTES;
      embed.put(format, new Launch(embedding, weightBytes, 8, 4, 8, 4).block(ROW_THREADS));
    }
    int epsilon = Float.floatToRawIntBits(config.normEpsilon());
    normalize.argument(3, epsilon).argument(4, config.hidden());
    rotate.arguments().set(JAVA_INT, 72, config.queryHeads());
    rotate.arguments().set(JAVA_INT, 76, config.kvHeads());
    rotate.arguments().set(JAVA_INT, 88, epsilon);
    rotate.arguments().set(JAVA_FLOAT, 92, config.scales().query());
    setHeadNorms(epsilon);
    Scales scales = config.scales();
    finish
        .argument(3, epsilon)
        .argument(4, Float.floatToRawIntBits(scales.residual()))
        .argument(5, config.hidden());
    cap.argument(2, Float.floatToRawIntBits(scales.logit()))
        .argument(3, Float.floatToRawIntBits(scales.logitCap()));
    this.experts =
        layers.stream().anyMatch(layer -> layer.experts() != null)
            ? new ExpertKernels(module, stream, config, layers, this, maxRows)
            : null;
  }

  /**
   * Sets the constants of norms of all heads together.
   *
   * <pre>
   *  0 u64 projected rows    16 u64 key norm      28 u32 columns of keys       36 f32 epsilon
   *  8 u64 query norm        24 u32 of queries    32 u32 of projected rows
   * </pre>
   */
  private void setHeadNorms(int epsilon) {
    int queries = config.queryHeads() * config.headDim();
    int keys = config.kvHeads() * config.headDim();
    MemorySegment argument = normalizeHeads.arguments();
    argument.set(JAVA_INT, 24, queries);
    argument.set(JAVA_INT, 28, keys);
    argument.set(JAVA_INT, 32, queries + 2 * keys);
    argument.set(JAVA_INT, 36, epsilon);
  }

  /**
   * Sets whether kernels start while the previous one ends, which hides the time of a launch.
   * Requires compute capability 9.0.
   */
  public void overlap(boolean early) {
    Stream.of(
            normalize, activate, quantizeHalves, computeAngles, rotate, normalizeHeads, finish, cap)
        .forEach(launch -> launch.programmaticDependent(early));
    argmaxLaunch.programmaticDependent(early);
    gemm.overlap(early);
    if (blocks != null) {
      blocks.overlap(early);
    }
    if (experts != null) {
      experts.overlap(early);
    }
  }

  /**
   * Returns the thread blocks that share a row in kernels without a sum over it.
   *
   * @param together columns that a thread takes at a time
   */
  static int blocksOfRow(int columns, int together, int rows) {
    return Math.ceilDiv(columns, rows <= FEW_ROWS ? together * PART_THREADS : PART_COLUMNS);
  }

  /** Returns the name of the kernel of an activation function. */
  static String gateKernel(Activation activation) {
    return activation == Activation.GELU ? "activate_gelu" : "activate";
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
        .argument(4, Float.floatToRawIntBits(config.scales().embedding()))
        .on(stream);
  }

  /**
   * Computes the cosines and sines that {@link #rotate} multiplies with, for all layers of a step.
   *
   * @param positions device address of a u32 per row
   */
  public void computeAngles(DeviceWeights weights, long positions, int rows) {
    for (int kind = 0; kind < angles.size(); kind++) {
      computeAngles
          .grid(rows, 1, 1)
          .block(config.ropes().kinds().get(kind).dimensions() / 2)
          .argument(0, weights.frequencies().get(kind).address())
          .argument(1, positions)
          .argument(2, angles.get(kind).address())
          .on(stream);
    }
  }

  /** Adds the bias of a layer's part to its output, normalizes and scales it. */
  public void finish(DeviceMemory update, DeviceWeights.Finish layer, int rows) {
    if (layer.isNothing() && config.scales().residual() == 1) {
      return;
    }
    finish
        .grid(rows, 1, 1)
        .argument(0, update.address())
        .argument(1, DeviceMatrix.address(layer.bias()))
        .argument(2, DeviceMatrix.address(layer.norm()))
        .on(stream);
  }

  /**
   * Adds an update and writes the norm in the forms that the matrices of a stack multiply.
   *
   * @param update added to {@code x} first; null for none
   * @param weight null to write rows as they are
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
          .argument(2, DeviceMatrix.address(weight))
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

  /** Scales and caps logits, if the model does. */
  public void capLogits(DeviceMemory logits, int vocabulary, int rows) {
    if (config.scales().logit() != 1 || config.scales().logitCap() > 0) {
      cap.grid(rows, Math.ceilDiv(vocabulary, PART_COLUMNS), 1)
          .argument(0, logits.address())
          .argument(1, vocabulary)
          .on(stream);
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
          .grid(rows.all(), blocksOfRow(columns, 1, rows.all()), 1)
          .argument(0, gateAndUp.address())
          .argument(1, columns);
      out.set(activate, 2);
      activate.on(stream);
    }
    if (stack.hasBlocks()) {
      blocks.activate(gateAndUp, columns, rows, out.blocks());
    }
  }

  /**
   * Runs the experts of a layer.
   *
   * @param x rows before the norm, for the router
   * @param normed the same rows as operands of products
   * @param update receives the outputs
   */
  public void runExperts(
      DeviceWeights.Layer layer,
      DeviceMemory x,
      DeviceActivations normed,
      RowCounts rows,
      DeviceMemory update) {
    experts.run(layer, x, normed, rows, update);
  }

  /** Converts halves to the forms that the matrices of a stack multiply. */
  public void convertHalves(
      DeviceMemory x, int columns, RowCounts rows, StackedMatrices stack, DeviceActivations out) {
    if (stack.hasChunks()) {
      quantizeHalves
          .grid(rows.all(), blocksOfRow(columns, 1, rows.all()), 1)
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
   * Projected rows of a step and where they go.
   *
   * @param positions device address of a u32 per row
   * @param slots device address, as in {@code KvAppendKernel.append}
   * @param queries receives the queries as halves
   */
  public record RotatedRows(
      DeviceMemory projected, long positions, long slots, DeviceMemory queries, int count) {}

  /**
   * Adds biases, normalizes heads, applies RoPE with the angles of the step ({@link
   * #computeAngles}), and writes queries as halves and keys and values to their pages. Norms of all
   * heads together run before, in a kernel of their own.
   *
   * @param index of the layer
   * @param layerOffset offset of the layer's fp16 pages
   */
  public void rotate(RotatedRows step, DeviceWeights weights, int index, long layerOffset) {
    DeviceWeights.Layer layer = weights.layers().get(index);
    boolean normalized = layer.normalizesAllHeads(config.headDim());
    if (normalized) {
      normalizeHeads(step, layer);
    }
    MemorySegment argument = rotate.arguments();
    argument.set(JAVA_LONG, 0, step.projected().address());
    argument.set(JAVA_LONG, 8, DeviceMatrix.address(layer.bias()));
    argument.set(JAVA_LONG, 16, normalized ? 0 : DeviceMatrix.address(layer.queryNorm()));
    argument.set(JAVA_LONG, 24, normalized ? 0 : DeviceMatrix.address(layer.keyNorm()));
    setRope(argument, config.ropes().of(index));
    argument.set(JAVA_LONG, 40, step.positions());
    argument.set(JAVA_LONG, 48, step.slots());
    argument.set(JAVA_LONG, 56, layerOffset);
    argument.set(JAVA_LONG, 64, step.queries().address());
    int heads = argument.get(JAVA_INT, 72) + 2 * argument.get(JAVA_INT, 76);
    int blocks = step.count() < MANY_ROWS ? heads : Math.ceilDiv(heads, HEADS_PER_BLOCK);
    rotate.grid(step.count(), blocks, 1).on(stream);
  }

  private void normalizeHeads(RotatedRows step, DeviceWeights.Layer layer) {
    MemorySegment argument = normalizeHeads.arguments();
    argument.set(JAVA_LONG, 0, step.projected().address());
    argument.set(JAVA_LONG, 8, layer.queryNorm().address());
    argument.set(JAVA_LONG, 16, layer.keyNorm().address());
    normalizeHeads.grid(step.count(), 2, 1).on(stream);
  }

  /** Sets the RoPE of a layer; without one no channels rotate and queries keep their scale. */
  private void setRope(MemorySegment argument, int kind) {
    if (kind == RopePattern.NONE) {
      argument.set(JAVA_INT, 80, 0);
      argument.set(JAVA_FLOAT, 100, 0);
      return;
    }
    RopeSettings rope = config.ropes().kinds().get(kind);
    argument.set(JAVA_LONG, 32, angles.get(kind).address());
    argument.set(JAVA_INT, 80, rope.dimensions() / 2);
    argument.set(JAVA_INT, 84, rope.layout() == RopeLayout.INTERLEAVED ? 1 : 0);
    argument.set(JAVA_FLOAT, 96, (float) (rope.magnitude() * rope.magnitude()));
    argument.set(JAVA_FLOAT, 100, (float) rope.temperature().rate());
    argument.set(JAVA_INT, 104, rope.temperature().length());
  }

  @Override
  public void close() {
    Resources.closeAll(experts, blocks, () -> Resources.closeAll(new ArrayList<>(angles)));
  }
}
