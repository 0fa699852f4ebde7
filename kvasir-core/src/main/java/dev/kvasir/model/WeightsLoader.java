package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.BlockLayout;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.SuperBlock;
import dev.kvasir.format.Tensor;
import dev.kvasir.format.TensorSource;
import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.GemmKernels;
import dev.kvasir.kernel.GgmlBlocks;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.Matrix;
import dev.kvasir.kernel.QuantizedWeights;
import dev.kvasir.kernel.QuantizedWeights.SuperBlockScales;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.model.TensorNames.Part;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Loads the weights of a decoder. Quantized tensors are repacked for GEMM without loss;
 * floating-point ones stay mapped.
 */
final class WeightsLoader {
  private static final float[] NO_MINIMUMS = {};

  /** Tiles per parallel task: few, so that many threads share each matrix. */
  private static final int TILES_PER_TASK = 16;

  private final ModelConfig config;
  private final TensorSource file;
  private final TensorNames names;
  private final TensorPlan plan;
  private final MatrixScales scales;
  private final Kernels kernels;
  private final LoadProgress progress;
  private final CountedArena arena;
  private final LoraAdapters.Application adapters;
  private boolean readsMapping;

  private WeightsLoader(
      ModelConfig config,
      TensorSource file,
      TensorNames names,
      Kernels kernels,
      LoraAdapters adapters,
      LoadProgress progress,
      CountedArena arena) {
    this.config = config;
    this.file = file;
    this.names = names;
    this.plan = new TensorPlan(config, file, names);
    this.scales = new MatrixScales(file, plan);
    this.kernels = kernels;
    this.progress = progress;
    this.adapters = adapters.apply(config, file, names, arena);
    this.arena = arena;
  }

  static Weights load(
      ModelConfig config,
      TensorSource file,
      TensorNames names,
      Kernels kernels,
      LoraAdapters adapters,
      LoadProgress progress) {
    CountedArena arena = new CountedArena();
    try {
      return new WeightsLoader(config, file, names, kernels, adapters, progress, arena).weights();
    } catch (RuntimeException | Error e) {
      arena.close();
      throw e;
    }
  }

  private Weights weights() {
    Matrix embedding = matrix(plan.require(names.embedding()));
    List<LayerWeights> layers = new ArrayList<>();
    for (int layer = 0; layer < config.layers(); layer++) {
      layers.add(layer(layer));
      progress.layers(layer + 1, config.layers());
    }
    Optional<TokenInputWeights> tokenInputs =
        config.inputChannels() > 0 ? Optional.of(tokenInputs()) : Optional.empty();
    float[] outputNorm = norm(names.outputNorm());
    Matrix output = plan.find(names.output()).map(this::adapted).orElse(embedding);
    adapters.requireAllUsed();
    TensorSource needed = readsMapping ? file : null;
    if (needed == null) {
      file.close();
    } else {
      file.protect();
    }
    return new Weights(
        embedding, List.copyOf(layers), tokenInputs, outputNorm, output, arena, needed);
  }

  private TokenInputWeights tokenInputs() {
    return new TokenInputWeights(
        matrix(plan.require(names.tokenInputs())),
        matrix(plan.require(names.tokenInputProjection())),
        norm(names.tokenInputNorm()));
  }

  private LayerWeights layer(int layer) {
    NormPlacement norms = config.architecture().norms();
    return new LayerWeights(
        norm(layer, norms.attention()),
        mixer(layer),
        norm(layer, norms.attentionOut()),
        norm(layer, norms.feedForward()),
        feedForward(layer),
        norm(layer, norms.feedForwardOut()),
        config.inputChannels() > 0 ? Optional.of(layerInput(layer)) : Optional.empty(),
        plan.find(names.outputScale(layer)).map(scale -> scale.toFloats()[0]).orElse(1f),
        config.windows().of(layer));
  }

  private LayerInputWeights layerInput(int layer) {
    return new LayerInputWeights(
        projection(layer, Part.INPUT_GATE),
        projection(layer, Part.INPUT_PROJECTION),
        norm(names.weight(layer, Part.INPUT_NORM)));
  }

  private AttentionWeights mixer(int layer) {
    if (config.isRecurrent(layer)) {
      return new RecurrentTensors(config, names).load(plan, layer, this::projection);
    }
    if (!config.attends(layer)) {
      return new NoAttention();
    }
    if (config.sharesCache(layer)) {
      return new QueryWeights(
          projection(layer, Part.QUERY),
          headNorm(layer, Part.QUERY_NORM),
          projection(layer, Part.OUTPUT));
    }
    return config.latent().isPresent() ? latent(layer) : heads(layer);
  }

  private FeedForwardWeights feedForward(int layer) {
    if (!config.hasFeedForward(layer)) {
      return new NoFeedForward();
    }
    if (config.hasExperts(layer)) {
      return config.architecture().traits().hasDenseBesideExperts()
          ? denseAndExperts(layer)
          : experts(layer);
    }
    return config.architecture().traits().isUngated()
        ? new UngatedWeights(projection(layer, Part.UP), projection(layer, Part.DOWN))
        : gated(layer);
  }

  private float[] norm(int layer, Optional<Part> part) {
    return part.map(held -> norm(names.weight(layer, held))).orElse(LayerWeights.NO_NORM);
  }

  private AttentionWeights heads(int layer) {
    Projection key = projection(layer, Part.KEY);
    return new MultiHeadWeights(
        projection(layer, Part.QUERY),
        key,
        plan.hasValuesOfKeys(layer) ? key : projection(layer, Part.VALUE),
        headNorm(layer, Part.QUERY_NORM),
        headNorm(layer, Part.KEY_NORM),
        valueNorm(layer),
        sinks(layer),
        projection(layer, Part.OUTPUT));
  }

  private AttentionWeights latent(int layer) {
    LatentConfig sizes = config.latent().orElseThrow();
    LatentTensors heads = LatentTensors.of(sizes, config.queryHeads(), plan, layer, arena);
    boolean direct = sizes.queryRank() == 0;
    return new LatentWeights(
        direct ? Optional.empty() : Optional.of(queryLatent(layer)),
        projection(layer, direct ? Part.QUERY : Part.QUERY_UP),
        projection(layer, Part.LATENT),
        norm(names.weight(layer, Part.LATENT_NORM)),
        heads.toLatent().stream().map(this::matrix).toList(),
        heads.fromLatent().stream().map(this::matrix).toList(),
        projection(layer, Part.OUTPUT));
  }

  private LatentWeights.QueryLatent queryLatent(int layer) {
    return new LatentWeights.QueryLatent(
        projection(layer, Part.QUERY_DOWN), norm(names.weight(layer, Part.QUERY_LATENT_NORM)));
  }

  private float[] sinks(int layer) {
    return config.architecture().traits().hasSinks()
        ? plan.require(names.sinks(layer)).toFloats()
        : MultiHeadWeights.NO_SINKS;
  }

  private FeedForwardWeights denseAndExperts(int layer) {
    float[] routerNorm = norm(names.routerScale(layer));
    float factor = (float) (1 / Math.sqrt(config.hidden()));
    for (int i = 0; i < routerNorm.length; i++) {
      routerNorm[i] *= factor;
    }
    return new DenseAndExpertWeights(
        gated(layer),
        norm(names.weight(layer, Part.DENSE_OUT_NORM)),
        routerNorm,
        norm(names.weight(layer, Part.EXPERT_NORM)),
        experts(layer),
        norm(names.weight(layer, Part.EXPERT_OUT_NORM)));
  }

  private ExpertWeights experts(int layer) {
    ExpertTensors tensors = ExpertTensors.of(config, plan);
    return new ExpertLoader(tensors, plan, this::matrix, arena).load(layer);
  }

  private GatedWeights gated(int layer) {
    return new GatedWeights(
        projection(layer, Part.GATE),
        projection(layer, Part.UP),
        projection(layer, Part.DOWN),
        config.architecture().activation());
  }

  private Projection projection(int layer, Part part) {
    return new Projection(
        adapted(plan.weight(layer, part)),
        plan.bias(layer, part).map(Tensor::toFloats).orElse(Projection.NO_BIAS));
  }

  private HeadNorm headNorm(int layer, Part part) {
    return !plan.requires(names.weight(layer, part))
        ? new HeadNorm.None()
        : new HeadNorm.RootMeanSquare(norm(names.weight(layer, part)), config.normEpsilon());
  }

  private HeadNorm valueNorm(int layer) {
    if (!config.architecture().traits().hasNormalizedValues()) {
      return new HeadNorm.None();
    }
    float[] ones = new float[config.heads(layer).valueDim()];
    Arrays.fill(ones, 1);
    return new HeadNorm.RootMeanSquare(ones, config.normEpsilon());
  }

  private float[] norm(String name) {
    return plan.normWeights(plan.require(name));
  }

  /** Returns a matrix, which may be rows of a tensor, with its adapters. */
  private Matrix adapted(Tensor tensor) {
    long rowBytes = tensor.type().bytesFor(tensor.shape()[1]);
    long before =
        file.find(tensor.name())
            .map(whole -> tensor.data().address() - whole.data().address())
            .orElse(0L);
    return adapters.adapted(tensor.name(), before / rowBytes, matrix(tensor));
  }

  private Matrix matrix(Tensor tensor) {
    int rows = (int) tensor.shape()[0];
    int columns = (int) tensor.shape()[1];
    float scale = scales.of(tensor);
    return switch (tensor.type()) {
      case F32 -> dense(Precision.F32, tensor, rows, columns);
      case F16 -> dense(Precision.F16, tensor, rows, columns);
      case BF16 -> dense(Precision.BF16, tensor, rows, columns);
      default -> quantized(tensor, rows, columns, scale);
    };
  }

  private Matrix dense(Precision precision, Tensor tensor, int rows, int columns) {
    readsMapping = true;
    return new DenseMatrix(precision, rows, columns, tensor.data());
  }

  private Matrix quantized(Tensor tensor, int rows, int columns, float factor) {
    GgmlType type = tensor.type();
    BlockLayout layout = type.layout();
    GemmKernels gemm = kernels.gemm();
    QuantizedWeights matrix =
        new QuantizedWeights(
            arena,
            rows,
            columns,
            TensorPlan.weightCodes(layout),
            layout.groupLength(),
            TensorPlan.scaleForm(layout));
    Optional<GgmlBlocks> stored = stored(type);
    int tilesPerTask = stored.isPresent() ? TILES_PER_TASK : 1;
    IntStream.range(0, Math.ceilDiv(matrix.tiles(), tilesPerTask))
        .parallel()
        .forEach(
            part -> {
              int first = part * tilesPerTask;
              int end = Math.min(first + tilesPerTask, matrix.tiles());
              if (stored.isEmpty()
                  || !gemm.repack(stored.get(), tensor.data(), matrix, first, end)) {
                IntStream.range(first, end).forEach(tile -> setTile(matrix, tile, tensor, factor));
              }
            });
    return matrix;
  }

  /** Returns the block format, if kernels may know it. */
  private static Optional<GgmlBlocks> stored(GgmlType type) {
    return switch (type) {
      case Q8_0 -> Optional.of(GgmlBlocks.Q8_0);
      case Q4_0 -> Optional.of(GgmlBlocks.Q4_0);
      default -> Optional.empty();
    };
  }

  private void setTile(QuantizedWeights matrix, int tile, Tensor tensor, float factor) {
    int columns = matrix.columns();
    int firstRow = tile * QuantizedWeights.TILE_ROWS;
    int count = Math.min(QuantizedWeights.TILE_ROWS, matrix.rows() - firstRow);
    byte[] codes = new byte[count * columns];
    float[] scales = new float[count * matrix.groups()];
    float[] minimums = matrix.hasMinimums() ? new float[count * matrix.groups()] : NO_MINIMUMS;
    // Rows are whole consecutive blocks, so they unpack as one run.
    GgmlType type = tensor.type();
    long from = type.bytesFor((long) firstRow * columns);
    byte[] blocks =
        tensor.data().asSlice(from, type.bytesFor(codes.length)).toArray(ValueLayout.JAVA_BYTE);
    type.layout().unpackAll(blocks, codes, scales, minimums);
    for (int i = 0; factor != 1 && i < scales.length; i++) {
      scales[i] *= factor;
    }
    checkFinite(tensor, "scale", scales);
    checkFinite(tensor, "minimum", minimums);
    if (type.layout() instanceof SuperBlock layout) {
      boolean storesMinimums = matrix.scaleFormat().storesMinimums();
      matrix.setTile(
          tile,
          count,
          codes,
          ScaleProducts.scales(layout, blocks),
          storesMinimums ? ScaleProducts.minimums(layout, blocks) : null);
    } else {
      matrix.setTile(tile, count, codes, scales, minimums);
    }
  }

  private void checkFinite(Tensor tensor, String what, float[] numbers) {
    for (float number : numbers) {
      if (!Float.isFinite(number)) {
        throw new InvalidInputException(
            "%s: tensor '%s' has a %s of %s; expected a finite number"
                .formatted(file.name(), tensor.name(), what, number));
      }
    }
  }

  /**
   * Extracts the factors of super-block scales and minimums, in the format of quantized weights.
   */
  private static final class ScaleProducts {
    /** Extracts scales of consecutive blocks. */
    static SuperBlockScales scales(SuperBlock layout, byte[] blocks) {
      return products(layout, blocks, layout::half, layout::factor);
    }

    /** Extracts minimums of consecutive blocks, for a layout that stores them. */
    static SuperBlockScales minimums(SuperBlock layout, byte[] blocks) {
      return products(layout, blocks, layout::minimumHalf, layout::minimumFactor);
    }

    private interface Half {
      short of(MemorySegment source, long offset);
    }

    private interface Factor {
      int of(MemorySegment source, long offset, int group);
    }

    private static SuperBlockScales products(
        SuperBlock layout, byte[] blocks, Half half, Factor factor) {
      MemorySegment source = MemorySegment.ofArray(blocks);
      int groups = layout.groupsPerBlock();
      short[] halves = new short[blocks.length / layout.blockBytes()];
      byte[] factors = new byte[halves.length * groups];
      for (int block = 0; block < halves.length; block++) {
        long at = (long) block * layout.blockBytes();
        halves[block] = half.of(source, at);
        for (int group = 0; group < groups; group++) {
          factors[block * groups + group] = (byte) factor.of(source, at, group);
        }
      }
      return new SuperBlockScales(halves, factors);
    }
  }
}
