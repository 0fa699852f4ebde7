package dev.kvasir.cuda;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.Tensor;
import dev.kvasir.format.TensorSource;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.WindowPattern;
import java.util.ArrayList;
import java.util.List;

/** The weights of a GGUF file, which is not needed any more once they are on the device. */
final class GgufWeights extends WeightSource {
  private final TensorSource file;

  GgufWeights(Context context, Stream stream, TensorSource file) {
    super(context, stream);
    this.file = file;
  }

  /** Refuses what there are no kernels for, before anything is brought. */
  static void check(TensorSource file, ModelConfig config) {
    config.requirePlain("a device");
    if (file.find("blk.0.attn_qkv.weight").isPresent()) {
      throw new InvalidInputException(
          "%s: holds queries, keys and values in one tensor, which a device does not read"
              .formatted(file.name()));
    }
    file.find("blk.0.attn_q_norm.weight").ifPresent(norm -> checkNorm(file, norm, config));
    for (int layer = 0; layer < config.layers(); layer++) {
      if (config.windows().of(layer) != WindowPattern.UNBOUNDED) {
        throw new InvalidInputException(
            "%s: layer %d sees %d positions; a device attends to all"
                .formatted(file.name(), layer, config.windows().of(layer)));
      }
    }
    for (Tensor tensor : file.tensors()) {
      if (tensor.shape().length == 2) {
        DeviceMatrix.kind(file.name(), tensor);
      }
    }
  }

  private static void checkNorm(TensorSource file, Tensor norm, ModelConfig config) {
    if (norm.shape()[0] != config.keyDim()) {
      throw new InvalidInputException(
          "%s: tensor '%s' has %d numbers; a device normalizes heads of %d channels one by one"
              .formatted(file.name(), norm.name(), norm.shape()[0], config.keyDim()));
    }
  }

  @Override
  boolean has(String name) {
    return file.find(name).isPresent();
  }

  /** Those that follow each other and are of one kind become one. */
  @Override
  DeviceStack made(Context context, Stream stream, List<String> names) {
    List<Tensor> tensors = names.stream().map(this::tensor).toList();
    List<DeviceMatrix> parts = new ArrayList<>();
    for (int from = 0, to; from < tensors.size(); from = to) {
      WeightKind kind = DeviceMatrix.kind(file.name(), tensors.get(from));
      to = from + 1;
      while (to < tensors.size() && DeviceMatrix.kind(file.name(), tensors.get(to)) == kind) {
        to++;
      }
      parts.add(DeviceMatrix.of(context, stream, kind, tensors.subList(from, to)));
    }
    return new DeviceStack(List.copyOf(parts));
  }

  @Override
  DeviceMemory vector(String... names) {
    List<float[]> parts = List.of(names).stream().map(this::tensor).map(Tensor::toFloats).toList();
    float[] all = new float[parts.stream().mapToInt(part -> part.length).sum()];
    int at = 0;
    for (float[] part : parts) {
      System.arraycopy(part, 0, all, at, part.length);
      at += part.length;
    }
    return floats(all);
  }

  private Tensor tensor(String name) {
    return file.find(name)
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "%s: tensor '%s' is missing".formatted(file.name(), name)));
  }
}
