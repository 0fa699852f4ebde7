package dev.kvasir.cuda;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.Tensor;
import dev.kvasir.format.TensorSource;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.WindowPattern;
import java.util.List;

/** The weights of a GGUF file, which is not needed any more once they are on the device. */
final class GgufWeights extends WeightSource {
  private final TensorSource file;

  GgufWeights(Context context, Stream stream, TensorSource file) {
    super(context, stream);
    this.file = file;
  }

  /** Refuses what there are no kernels for, before anything is brought. */
  void check(ModelConfig config) {
    config.requirePlain("a device");
    if (has("blk.0.attn_qkv.weight")) {
      throw new InvalidInputException(
          "%s: holds queries, keys and values in one tensor, which a device does not read"
              .formatted(file.name()));
    }
    if (has("blk.0.attn_q_norm.weight")) {
      throw new InvalidInputException(
          "%s: normalizes its heads, which a device does not".formatted(file.name()));
    }
    for (int layer = 0; layer < config.layers(); layer++) {
      if (config.windows().of(layer) != WindowPattern.UNBOUNDED) {
        throw new InvalidInputException(
            "%s: layer %d sees %d positions; a device attends to all"
                .formatted(file.name(), layer, config.windows().of(layer)));
      }
    }
  }

  @Override
  boolean has(String name) {
    return file.find(name).isPresent();
  }

  @Override
  DeviceMatrix made(Context context, Stream stream, List<String> names) {
    return DeviceMatrix.of(context, stream, file.name(), names.stream().map(this::tensor).toList());
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
