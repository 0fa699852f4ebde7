package dev.kvasir.cuda.kernels;

import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.Tensor;
import dev.kvasir.format.TensorSource;
import dev.kvasir.model.ExpertConfig;
import dev.kvasir.model.LayerRange;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.NormPlacement;
import dev.kvasir.model.RoutedExperts;
import dev.kvasir.model.StandardLayers;
import dev.kvasir.model.TensorNames.Part;
import dev.kvasir.model.TensorPlan;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Loads weights from a GGUF file or a Hugging Face folder, which is not needed once they are on the
 * device.
 */
public final class FileWeightSource extends WeightSource {
  private static final String DEVICE = "a device"; // in error messages
  private static final List<Part> PROJECTIONS = List.of(Part.QUERY, Part.KEY, Part.VALUE);
  private static final List<Part> OUTPUTS = List.of(Part.OUTPUT, Part.DOWN);
  private static final List<Part> UNBIASED = List.of(Part.GATE, Part.UP);

  private final TensorPlan plan;
  private final ModelConfig config;

  FileWeightSource(CudaContext context, CudaStream stream, TensorSource file, ModelConfig config) {
    super(context, stream);
    this.plan = TensorPlan.of(config, file);
    this.config = config;
  }

  /**
   * Rejects what the host rejects, such as tensors that are missing or misshapen, and what has no
   * kernels. Nothing is uploaded.
   */
  public static void check(TensorSource file, ModelConfig config) {
    StandardLayers.require(config, DEVICE);
    TensorPlan plan = TensorPlan.of(config, file);
    plan.loadedBytes(); // throws if tensors are invalid
    for (int layer = 0; layer < config.layers(); layer++) {
      checkBiases(plan, layer);
      checkHeadNorms(plan, config, layer);
    }
    LayerRange whole = LayerRange.whole(config.layers());
    matrices(plan, config, whole).forEach(matrix -> checkMatrix(file.name(), matrix));
    expertLayers(config, whole).forEach(layer -> checkExperts(plan, config, layer));
  }

  private static IntStream expertLayers(ModelConfig config, LayerRange range) {
    return IntStream.range(range.first(), range.end()).filter(config::hasExperts);
  }

  /** Rejects experts that differ in their format, since one launch multiplies all of them. */
  private static void checkExperts(TensorPlan plan, ModelConfig config, int layer) {
    RoutedExperts experts = RoutedExperts.of(config, plan);
    experts.requireUnscaled(layer, DEVICE);
    int count = config.experts().orElseThrow().count();
    if (count > ExpertKernels.MOST_EXPERTS) {
      throw new InvalidInputException(
          "%s: has %d experts; a device runs at most %d"
              .formatted(plan.fileName(), count, ExpertKernels.MOST_EXPERTS));
    }
    for (int expert = 0; expert < count; expert++) {
      // Shared, because several threads transpose a matrix; one arena for each bounds the memory.
      try (Arena arena = Arena.ofShared()) {
        Tensor gate = experts.gate(layer, 0, arena);
        Tensor down = experts.down(layer, 0, arena);
        checkExpert(plan, experts.gate(layer, expert, arena), gate);
        checkExpert(plan, experts.up(layer, expert, arena), gate);
        checkExpert(plan, experts.down(layer, expert, arena), down);
      }
    }
    shared(plan, config, layer).forEach(matrix -> checkMatrix(plan.fileName(), matrix));
  }

  /** Returns the matrices of the shared expert. */
  private static Stream<Tensor> shared(TensorPlan plan, ModelConfig config, int layer) {
    if (config.experts().orElseThrow().sharedWidth() == 0) {
      return Stream.empty();
    }
    RoutedExperts experts = RoutedExperts.of(config, plan);
    return Stream.concat(
        experts.sharedGateAndUp(layer).stream(), Stream.of(experts.sharedDown(layer)));
  }

  private static void checkExpert(TensorPlan plan, Tensor matrix, Tensor first) {
    checkMatrix(plan.fileName(), matrix);
    if (matrix.type() != first.type()) {
      throw new InvalidInputException(
          "%s: tensor '%s' has type %s; a device expects %s, like '%s'"
              .formatted(
                  plan.fileName(), matrix.name(), matrix.type(), first.type(), first.name()));
    }
  }

  /** Rejects a layer with a bias that the device would ignore. */
  static void checkBiases(TensorPlan plan, int layer) {
    for (Part part : UNBIASED) {
      plan.bias(layer, part)
          .ifPresent(
              bias -> {
                throw new InvalidInputException(
                    "%s: layer %d has a bias '%s'; a device adds none to gates"
                        .formatted(plan.fileName(), layer, bias.name()));
              });
    }
    List<String> biased =
        PROJECTIONS.stream()
            .flatMap(part -> plan.bias(layer, part).stream())
            .map(Tensor::name)
            .toList();
    if (!biased.isEmpty() && biased.size() != PROJECTIONS.size()) {
      throw new InvalidInputException(
          "%s: layer %d has the biases %s; a device expects them of queries, keys and values or of none"
              .formatted(plan.fileName(), layer, biased));
    }
  }

  private static void checkHeadNorms(TensorPlan plan, ModelConfig config, int layer) {
    Optional<Tensor> queries = plan.norm(layer, Part.QUERY_NORM);
    Optional<Tensor> keys = plan.norm(layer, Part.KEY_NORM);
    if (queries.isPresent() != keys.isPresent()) {
      throw new InvalidInputException(
          "%s: layer %d has a norm of queries or of keys alone; a device expects both or none"
              .formatted(plan.fileName(), layer));
    }
    // Norms of all heads together run before the kernel that adds biases.
    boolean isBiased = plan.bias(layer, Part.QUERY).isPresent();
    if (isBiased && queries.filter(norm -> norm.shape()[0] != config.keyDim()).isPresent()) {
      throw new InvalidInputException(
          "%s: layer %d has biases and a norm of all query heads; a device expects one of the two"
              .formatted(plan.fileName(), layer));
    }
    queries.ifPresent(norm -> checkNorm(plan, norm, config.keyDim(), config.queryHeads()));
    keys.ifPresent(norm -> checkNorm(plan, norm, config.keyDim(), config.kvHeads()));
  }

  private static void checkNorm(TensorPlan plan, Tensor norm, int headDim, int heads) {
    long numbers = norm.shape()[0];
    if (numbers != headDim && numbers != (long) headDim * heads) {
      throw new InvalidInputException(
          "%s: tensor '%s' has %d numbers; a device expects the %d channels of a head or of all %d"
              .formatted(plan.fileName(), norm.name(), numbers, headDim, heads));
    }
  }

  static void checkMatrix(String file, Tensor tensor) {
    DeviceMatrix.format(file, tensor, false);
    if (tensor.shape()[1] % WeightFormat.COLUMNS != 0) {
      throw new InvalidInputException(
          "%s: tensor '%s' has %d columns; a device expects a multiple of %d"
              .formatted(file, tensor.name(), tensor.shape()[1], WeightFormat.COLUMNS));
    }
  }

  /** Returns the matrices but experts, with the parts of fused tensors one by one. */
  private static Stream<Tensor> matrices(TensorPlan plan, ModelConfig config, LayerRange range) {
    List<Part> all = Stream.of(PROJECTIONS, UNBIASED, OUTPUTS).flatMap(List::stream).toList();
    List<Part> besideExperts = Stream.concat(PROJECTIONS.stream(), Stream.of(Part.OUTPUT)).toList();
    Stream<Tensor> ofLayers =
        IntStream.range(range.first(), range.end())
            .boxed()
            .flatMap(
                layer ->
                    (config.hasExperts(layer) ? besideExperts : all)
                        .stream().map(part -> plan.weight(layer, part)));
    return Stream.concat(ends(plan, range.isFirst(), range.isLast()), ofLayers);
  }

  /** Returns the embedding and the output matrix, as far as a device needs them. */
  private static Stream<Tensor> ends(TensorPlan plan, boolean hasFirst, boolean hasLast) {
    Optional<Tensor> embedding = Optional.of(plan.embedding()).filter(any -> hasFirst);
    Optional<Tensor> tied = Optional.of(plan.embedding()).filter(any -> !hasFirst);
    Optional<Tensor> output = plan.output().or(() -> tied).filter(any -> hasLast);
    return Stream.concat(embedding.stream(), output.stream());
  }

  /**
   * Returns the bytes of a device's matrices that belong to no layer.
   *
   * @param hasFirst whether the device has the first layer
   * @param hasLast whether it has the last one
   * @param blocks whether it has kernels for weights in blocks
   */
  public static long endBytes(
      TensorSource file, ModelConfig config, boolean hasFirst, boolean hasLast, boolean blocks) {
    return ends(TensorPlan.of(config, file), hasFirst, hasLast)
        .mapToLong(matrix -> bytes(file.name(), matrix, blocks))
        .sum();
  }

  /** Returns the vectors. */
  private static Stream<Tensor> vectors(TensorPlan plan, ModelConfig config, LayerRange range) {
    NormPlacement placed = config.architecture().norms();
    List<Part> norms =
        Stream.of(
                placed.attention(),
                placed.attentionOut(),
                placed.feedForward(),
                placed.feedForwardOut(),
                Optional.of(Part.QUERY_NORM),
                Optional.of(Part.KEY_NORM))
            .flatMap(Optional::stream)
            .toList();
    List<Part> biased = Stream.of(PROJECTIONS, OUTPUTS).flatMap(List::stream).toList();
    Stream<Optional<Tensor>> ofLayers =
        IntStream.range(range.first(), range.end())
            .boxed()
            .flatMap(
                layer ->
                    Stream.of(
                            norms.stream().map(part -> plan.norm(layer, part)),
                            biased.stream().map(part -> plan.bias(layer, part)),
                            Stream.of(plan.sinks(layer)))
                        .flatMap(each -> each));
    Stream<Tensor> last = Stream.of(plan.outputNorm()).filter(any -> range.isLast());
    return Stream.concat(last, ofLayers.flatMap(Optional::stream));
  }

  /**
   * Returns the device bytes of the weights of a file that {@link #check} has accepted. Stacking
   * matrices saves up to 127 padding rows for each of them.
   *
   * @param blocks whether the device has kernels for weights in blocks
   */
  public static long bytes(TensorSource file, ModelConfig config, boolean blocks) {
    return bytes(file, config, LayerRange.whole(config.layers()), blocks);
  }

  /**
   * Returns the bytes of some layers, with the embedding before the first one and the output matrix
   * after the last.
   */
  public static long bytes(
      TensorSource file, ModelConfig config, LayerRange range, boolean blocks) {
    TensorPlan plan = TensorPlan.of(config, file);
    return matrices(plan, config, range)
            .mapToLong(matrix -> bytes(file.name(), matrix, blocks))
            .sum()
        + vectors(plan, config, range).mapToLong(vector -> vector.values() * Float.BYTES).sum()
        + expertLayers(config, range).mapToLong(layer -> expertBytes(plan, config, layer)).sum()
        + expertLayers(config, range)
            .boxed()
            .flatMap(layer -> shared(plan, config, layer))
            .mapToLong(matrix -> bytes(file.name(), matrix, blocks))
            .sum();
  }

  /** Returns the bytes of a layer's routed experts, which are in chunks, with router and biases. */
  private static long expertBytes(TensorPlan plan, ModelConfig config, int layer) {
    RoutedExperts tensors = RoutedExperts.of(config, plan);
    ExpertConfig experts = config.experts().orElseThrow();
    int hidden = config.hidden();
    try (Arena arena = Arena.ofShared()) {
      WeightFormat gates =
          DeviceMatrix.format(plan.fileName(), tensors.gate(layer, 0, arena), false);
      WeightFormat downs =
          DeviceMatrix.format(plan.fileName(), tensors.down(layer, 0, arena), false);
      long each =
          DeviceMatrix.bytes(gates, 2 * experts.width(), hidden)
              + DeviceMatrix.bytes(downs, hidden, experts.width());
      int biases = tensors.downBias(layer, 0).length > 0 ? 2 * experts.width() + hidden : 0;
      long floats =
          experts.count() * (long) (hidden + biases)
              + (experts.sharedGate() ? hidden : 0)
              + tensors.correction(layer).map(Tensor::values).orElse(0L)
              + tensors.routerBias(layer).map(Tensor::values).orElse(0L);
      return experts.count() * each + floats * Float.BYTES;
    }
  }

  private static long bytes(String file, Tensor matrix, boolean blocks) {
    long[] shape = matrix.shape();
    WeightFormat format = DeviceMatrix.format(file, matrix, blocks);
    return DeviceMatrix.bytes(format, (int) shape[0], (int) shape[1]);
  }

  @Override
  StackedMatrices loadEmbedding(CudaContext context, CudaStream stream) {
    return load(context, stream, List.of(plan.embedding()));
  }

  @Override
  Optional<StackedMatrices> loadOutput(CudaContext context, CudaStream stream) {
    return plan.output().map(output -> load(context, stream, List.of(output)));
  }

  @Override
  StackedMatrices loadMatrix(CudaContext context, CudaStream stream, int layer, List<Part> parts) {
    return load(context, stream, parts.stream().map(part -> plan.weight(layer, part)).toList());
  }

  @Override
  DeviceExperts loadExperts(CudaContext context, CudaStream stream, int layer) {
    RoutedExperts experts = RoutedExperts.of(config, plan);
    List<StackedMatrices> gateAndUp = new ArrayList<>();
    List<StackedMatrices> down = new ArrayList<>();
    try (Arena arena = Arena.ofShared(); // several threads write the tiles of a matrix
        PendingUploads uploads = new PendingUploads(stream)) {
      for (int expert = 0; expert < config.experts().orElseThrow().count(); expert++) {
        Tensor gate = experts.gate(layer, expert, arena);
        Tensor up = experts.up(layer, expert, arena);
        gateAndUp.add(inChunks(context, stream, uploads, List.of(gate, up)));
        down.add(inChunks(context, stream, uploads, List.of(experts.down(layer, expert, arena))));
      }
    }
    return DeviceExperts.of(
        context,
        stream,
        router(context, stream, experts, layer),
        gateAndUp,
        down,
        biases(context, stream, experts, layer),
        shared(context, stream, experts, layer));
  }

  private static DeviceRouter router(
      CudaContext context, CudaStream stream, RoutedExperts experts, int layer) {
    Stream<Tensor> rows =
        Stream.concat(Stream.of(experts.router(layer)), experts.sharedGate(layer).stream());
    return new DeviceRouter(
        upload(context, stream, concatenated(rows.map(Tensor::toFloats).toList())),
        uploaded(context, stream, experts.routerBias(layer)),
        uploaded(context, stream, experts.correction(layer)));
  }

  private static DeviceMemory uploaded(
      CudaContext context, CudaStream stream, Optional<Tensor> tensor) {
    return tensor.map(known -> upload(context, stream, known.toFloats())).orElse(null);
  }

  /** Loads the biases of routed experts; null if they have none. */
  private ExpertBiases biases(
      CudaContext context, CudaStream stream, RoutedExperts experts, int layer) {
    if (experts.downBias(layer, 0).length == 0) {
      return null;
    }
    int count = config.experts().orElseThrow().count();
    List<float[]> gateAndUp =
        IntStream.range(0, count).mapToObj(e -> experts.gateAndUpBias(layer, e)).toList();
    List<float[]> down =
        IntStream.range(0, count).mapToObj(e -> experts.downBias(layer, e)).toList();
    return new ExpertBiases(
        upload(context, stream, concatenated(gateAndUp)),
        upload(context, stream, concatenated(down)));
  }

  private SharedExpert shared(
      CudaContext context, CudaStream stream, RoutedExperts experts, int layer) {
    return config.experts().orElseThrow().sharedWidth() == 0
        ? null
        : new SharedExpert(
            load(context, stream, experts.sharedGateAndUp(layer)),
            load(context, stream, List.of(experts.sharedDown(layer))));
  }

  private StackedMatrices inChunks(
      CudaContext context, CudaStream stream, PendingUploads uploads, List<Tensor> tensors) {
    WeightFormat format = DeviceMatrix.format(plan.fileName(), tensors.getFirst(), false);
    return new StackedMatrices(List.of(DeviceMatrix.of(context, stream, uploads, format, tensors)));
  }

  /** Stacks consecutive tensors of one format into one matrix. */
  private StackedMatrices load(CudaContext context, CudaStream stream, List<Tensor> tensors) {
    List<DeviceMatrix> made = new ArrayList<>();
    boolean blocks = context.device().hasWarpgroupProducts();
    List<WeightFormat> formats =
        tensors.stream()
            .map(tensor -> DeviceMatrix.format(plan.fileName(), tensor, blocks))
            .toList();
    for (int from = 0, to; from < tensors.size(); from = to) {
      to = from + 1;
      while (to < tensors.size() && formats.get(to) == formats.get(from)) {
        to++;
      }
      made.add(DeviceMatrix.of(context, stream, formats.get(from), tensors.subList(from, to)));
    }
    return new StackedMatrices(List.copyOf(made));
  }

  @Override
  DeviceMemory outputNorm() {
    return floats(plan.normWeights(plan.outputNorm()));
  }

  @Override
  DeviceMemory norm(int layer, Part part) {
    return plan.norm(layer, part).map(norm -> floats(plan.normWeights(norm))).orElse(null);
  }

  @Override
  Optional<float[]> sinkScores(int layer) {
    return plan.sinks(layer).map(Tensor::toFloats);
  }

  @Override
  DeviceMemory biases(int layer, Part... parts) {
    boolean isBiased = plan.bias(layer, parts[0]).isPresent();
    return isBiased
        ? vector(Arrays.stream(parts).map(part -> plan.bias(layer, part).orElseThrow()))
        : null;
  }

  private DeviceMemory vector(Stream<Tensor> tensors) {
    return floats(concatenated(tensors.map(Tensor::toFloats).toList()));
  }

  private static float[] concatenated(List<float[]> parts) {
    float[] all = new float[parts.stream().mapToInt(part -> part.length).sum()];
    int at = 0;
    for (float[] part : parts) {
      System.arraycopy(part, 0, all, at, part.length);
      at += part.length;
    }
    return all;
  }
}
