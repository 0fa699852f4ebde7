package dev.kvasir.cuda.kernels;

import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufFile;
import dev.kvasir.format.Tensor;
import dev.kvasir.format.TensorSource;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.TensorPlan;
import dev.kvasir.model.WindowPattern;
import java.util.ArrayList;
import java.util.List;

/** Loads weights from a GGUF file, which is not needed once they are on the device. */
public final class GgufWeightSource extends WeightSource {
  private static final List<String> WITH_BIAS = List.of("attn_q", "attn_k", "attn_v");
  private static final List<String> WITHOUT_BIAS =
      List.of("attn_output", "ffn_gate", "ffn_up", "ffn_down");

  private final String file; // as named in messages
  private final TensorPlan plan;

  GgufWeightSource(CudaContext context, CudaStream stream, GgufFile file, ModelConfig config) {
    super(context, stream);
    this.file = file.name();
    this.plan = TensorPlan.of(config, file);
  }

  /**
   * Rejects what the host rejects, such as tensors that are missing or misshapen, and what has no
   * kernels. Nothing is uploaded.
   */
  public static void check(GgufFile file, ModelConfig config) {
    config.requirePlain("a device");
    TensorPlan plan = TensorPlan.of(config, file);
    plan.loadedBytes(); // throws if tensors are invalid
    for (int layer = 0; layer < config.layers(); layer++) {
      if (config.windows().of(layer) != WindowPattern.UNBOUNDED) {
        throw new InvalidInputException(
            "%s: layer %d sees %d positions; a device attends to all"
                .formatted(file.name(), layer, config.windows().of(layer)));
      }
      checkLayer(file, layer);
    }
    plan.find("blk.0.attn_q_norm.weight").ifPresent(norm -> checkNorm(file, norm, config));
    for (Tensor tensor : file.tensors()) {
      if (tensor.shape().length == 2 && plan.find(tensor.name()).isPresent()) {
        checkMatrix(file.name(), tensor);
      }
    }
  }

  /** Rejects a layer with a tensor that the device would ignore. */
  static void checkLayer(TensorSource file, int layer) {
    String name = "blk.%d.".formatted(layer);
    if (file.find(name + "attn_qkv.weight").isPresent()) {
      throw new InvalidInputException(
          "%s: layer %d holds queries, keys and values in one tensor, which a device does not read"
              .formatted(file.name(), layer));
    }
    if (file.find(name + "ffn_gate.weight").isEmpty()) {
      throw new InvalidInputException(
          "%s: layer %d has no tensor 'ffn_gate.weight'; a device expects gates in a tensor of their own"
              .formatted(file.name(), layer));
    }
    for (String part : WITHOUT_BIAS) {
      if (file.find(name + part + ".bias").isPresent()) {
        throw new InvalidInputException(
            "%s: layer %d has a bias '%s.bias'; a device adds those of queries, keys and values alone"
                .formatted(file.name(), layer, part));
      }
    }
    List<String> biased =
        WITH_BIAS.stream().filter(part -> file.find(name + part + ".bias").isPresent()).toList();
    if (!biased.isEmpty() && !biased.equals(WITH_BIAS)) {
      throw new InvalidInputException(
          "%s: layer %d has biases of %s; a device expects them of all of %s or of none"
              .formatted(file.name(), layer, biased, WITH_BIAS));
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

  /**
   * Returns the device bytes of the weights of a file that {@link #check} has accepted. Stacking
   * matrices saves up to 127 padding rows for each of them.
   *
   * @param blocks whether the device has kernels for weights in blocks
   */
  public static long bytes(GgufFile file, ModelConfig config, boolean blocks) {
    TensorPlan plan = TensorPlan.of(config, file);
    return file.tensors().stream()
        .filter(tensor -> plan.find(tensor.name()).isPresent())
        .mapToLong(tensor -> bytes(file.name(), tensor, blocks))
        .sum();
  }

  private static long bytes(String file, Tensor tensor, boolean blocks) {
    long[] shape = tensor.shape();
    return shape.length == 2
        ? DeviceMatrix.bytes(
            DeviceMatrix.format(file, tensor, blocks), (int) shape[0], (int) shape[1])
        : tensor.values() * Float.BYTES;
  }

  /** Head norms, biases and a separate output are present if the host would read them too. */
  @Override
  boolean has(String name) {
    return plan.find(name).isPresent();
  }

  /** Stacks consecutive tensors of one format into one matrix. */
  @Override
  StackedMatrices loadMatrix(CudaContext context, CudaStream stream, List<String> names) {
    List<Tensor> tensors = names.stream().map(plan::require).toList();
    List<DeviceMatrix> parts = new ArrayList<>();
    boolean blocks = context.device().hasWarpgroupProducts();
    for (int from = 0, to; from < tensors.size(); from = to) {
      WeightFormat format = DeviceMatrix.format(file, tensors.get(from), blocks);
      to = from + 1;
      while (to < tensors.size() && DeviceMatrix.format(file, tensors.get(to), blocks) == format) {
        to++;
      }
      parts.add(DeviceMatrix.of(context, stream, format, tensors.subList(from, to)));
    }
    return new StackedMatrices(List.copyOf(parts));
  }

  @Override
  DeviceMemory vector(String... names) {
    List<float[]> parts = List.of(names).stream().map(plan::require).map(Tensor::toFloats).toList();
    float[] all = new float[parts.stream().mapToInt(part -> part.length).sum()];
    int at = 0;
    for (float[] part : parts) {
      System.arraycopy(part, 0, all, at, part.length);
      at += part.length;
    }
    return floats(all);
  }
}
