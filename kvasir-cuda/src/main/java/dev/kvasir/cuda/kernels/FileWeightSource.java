package dev.kvasir.cuda.kernels;

import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.Tensor;
import dev.kvasir.format.TensorSource;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.TensorNames.Part;
import dev.kvasir.model.TensorPlan;
import dev.kvasir.model.WindowPattern;
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
  private static final List<Part> BIASED = List.of(Part.QUERY, Part.KEY, Part.VALUE);
  private static final List<Part> UNBIASED = List.of(Part.OUTPUT, Part.GATE, Part.UP, Part.DOWN);

  private final TensorPlan plan;

  FileWeightSource(CudaContext context, CudaStream stream, TensorSource file, ModelConfig config) {
    super(context, stream);
    this.plan = TensorPlan.of(config, file);
  }

  /**
   * Rejects what the host rejects, such as tensors that are missing or misshapen, and what has no
   * kernels. Nothing is uploaded.
   */
  public static void check(TensorSource file, ModelConfig config) {
    config.requirePlain("a device");
    TensorPlan plan = TensorPlan.of(config, file);
    plan.loadedBytes(); // throws if tensors are invalid
    for (int layer = 0; layer < config.layers(); layer++) {
      if (config.windows().of(layer) != WindowPattern.UNBOUNDED) {
        throw new InvalidInputException(
            "%s: layer %d sees %d positions; a device attends to all"
                .formatted(file.name(), layer, config.windows().of(layer)));
      }
      checkBiases(plan, layer);
      for (Part part : List.of(Part.QUERY_NORM, Part.KEY_NORM)) {
        plan.norm(layer, part).ifPresent(norm -> checkNorm(file, norm, config));
      }
    }
    matrices(plan, config).forEach(matrix -> checkMatrix(file.name(), matrix));
  }

  /** Rejects a layer with a bias that the device would ignore. */
  static void checkBiases(TensorPlan plan, int layer) {
    for (Part part : UNBIASED) {
      plan.bias(layer, part)
          .ifPresent(
              bias -> {
                throw new InvalidInputException(
                    "%s: layer %d has a bias '%s'; a device adds those of queries, keys and values alone"
                        .formatted(plan.fileName(), layer, bias.name()));
              });
    }
    List<String> biased =
        BIASED.stream().flatMap(part -> plan.bias(layer, part).stream()).map(Tensor::name).toList();
    if (!biased.isEmpty() && biased.size() != BIASED.size()) {
      throw new InvalidInputException(
          "%s: layer %d has the biases %s; a device expects them of queries, keys and values or of none"
              .formatted(plan.fileName(), layer, biased));
    }
  }

  private static void checkNorm(TensorSource file, Tensor norm, ModelConfig config) {
    if (norm.shape()[0] != config.keyDim()) {
      throw new InvalidInputException(
          "%s: tensor '%s' has %d numbers; a device normalizes heads of %d channels one by one"
              .formatted(file.name(), norm.name(), norm.shape()[0], config.keyDim()));
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

  /** Returns all matrices, with the parts of fused tensors one by one. */
  private static Stream<Tensor> matrices(TensorPlan plan, ModelConfig config) {
    List<Part> parts = Stream.of(BIASED, UNBIASED).flatMap(List::stream).toList();
    Stream<Tensor> ofLayers =
        IntStream.range(0, config.layers())
            .boxed()
            .flatMap(layer -> parts.stream().map(part -> plan.weight(layer, part)));
    return Stream.of(Stream.of(plan.embedding()), plan.output().stream(), ofLayers)
        .flatMap(each -> each);
  }

  /** Returns all vectors. */
  private static Stream<Tensor> vectors(TensorPlan plan, ModelConfig config) {
    List<Part> norms =
        List.of(Part.ATTENTION_NORM, Part.QUERY_NORM, Part.KEY_NORM, Part.FEED_FORWARD_NORM);
    Stream<Optional<Tensor>> ofLayers =
        IntStream.range(0, config.layers())
            .boxed()
            .flatMap(
                layer ->
                    Stream.concat(
                        norms.stream().map(part -> plan.norm(layer, part)),
                        BIASED.stream().map(part -> plan.bias(layer, part))));
    return Stream.concat(Stream.of(plan.outputNorm()), ofLayers.flatMap(Optional::stream));
  }

  /**
   * Returns the device bytes of the weights of a file that {@link #check} has accepted. Stacking
   * matrices saves up to 127 padding rows for each of them.
   *
   * @param blocks whether the device has kernels for weights in blocks
   */
  public static long bytes(TensorSource file, ModelConfig config, boolean blocks) {
    TensorPlan plan = TensorPlan.of(config, file);
    return matrices(plan, config).mapToLong(matrix -> bytes(file.name(), matrix, blocks)).sum()
        + vectors(plan, config).mapToLong(vector -> vector.values() * Float.BYTES).sum();
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
    return vector(Stream.of(plan.outputNorm()));
  }

  @Override
  DeviceMemory norm(int layer, Part part) {
    return plan.norm(layer, part).map(norm -> vector(Stream.of(norm))).orElse(null);
  }

  @Override
  DeviceMemory biases(int layer, Part... parts) {
    boolean isBiased = plan.bias(layer, parts[0]).isPresent();
    return isBiased
        ? vector(Arrays.stream(parts).map(part -> plan.bias(layer, part).orElseThrow()))
        : null;
  }

  private DeviceMemory vector(Stream<Tensor> tensors) {
    List<float[]> parts = tensors.map(Tensor::toFloats).toList();
    float[] all = new float[parts.stream().mapToInt(part -> part.length).sum()];
    int at = 0;
    for (float[] part : parts) {
      System.arraycopy(part, 0, all, at, part.length);
      at += part.length;
    }
    return floats(all);
  }
}
