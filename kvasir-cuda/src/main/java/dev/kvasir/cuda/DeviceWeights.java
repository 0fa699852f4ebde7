package dev.kvasir.cuda;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.Tensor;
import dev.kvasir.format.TensorSource;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.WindowPattern;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * All weights of a decoder on a device, out of a GGUF file. Products with the same rows are one.
 */
final class DeviceWeights implements AutoCloseable {
  /**
   * @param projections of queries, keys and values
   * @param bias of the three together, null where there is none
   * @param gateAndUp the two matrices of the feed-forward network that rows meet first
   */
  record Layer(
      DeviceMemory attentionNorm,
      DeviceMatrix projections,
      DeviceMemory bias,
      DeviceMatrix output,
      DeviceMemory feedForwardNorm,
      DeviceMatrix gateAndUp,
      DeviceMatrix down) {}

  private final Context context;
  private final Stream stream;
  private final TensorSource file;
  private final List<AutoCloseable> taken = new ArrayList<>();
  private final List<Layer> layers = new ArrayList<>();
  private final DeviceMatrix embedding;
  private final DeviceMemory outputNorm;
  private final DeviceMatrix output;
  private final DeviceMemory frequencies;

  DeviceWeights(Context context, Stream stream, TensorSource file, ModelConfig config) {
    this.context = context;
    this.stream = stream;
    this.file = file;
    check(config);
    this.embedding = matrix("token_embd.weight");
    for (int layer = 0; layer < config.layers(); layer++) {
      layers.add(layer("blk.%d.".formatted(layer)));
    }
    this.outputNorm = vector("output_norm.weight");
    this.output = file.find("output.weight").isPresent() ? matrix("output.weight") : embedding;
    this.frequencies =
        floats(config.rope().frequencies().of(config.rope().base(), config.rope().dimensions()));
  }

  private void check(ModelConfig config) {
    if (file.find("blk.0.attn_q_norm.weight").isPresent()) {
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

  private Layer layer(String name) {
    return new Layer(
        vector(name + "attn_norm.weight"),
        matrix(name + "attn_q.weight", name + "attn_k.weight", name + "attn_v.weight"),
        bias(name + "attn_q.bias", name + "attn_k.bias", name + "attn_v.bias"),
        matrix(name + "attn_output.weight"),
        vector(name + "ffn_norm.weight"),
        matrix(name + "ffn_gate.weight", name + "ffn_up.weight"),
        matrix(name + "ffn_down.weight"));
  }

  private DeviceMatrix matrix(String... names) {
    List<Tensor> stacked = Arrays.stream(names).map(this::tensor).toList();
    return keep(DeviceMatrix.of(context, stream, file.name(), stacked));
  }

  private Tensor tensor(String name) {
    return file.find(name)
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "%s: tensor '%s' is missing".formatted(file.name(), name)));
  }

  private DeviceMemory vector(String name) {
    return floats(tensor(name).toFloats());
  }

  private DeviceMemory bias(String... names) {
    List<float[]> parts =
        Arrays.stream(names)
            .map(file::find)
            .flatMap(Optional::stream)
            .map(Tensor::toFloats)
            .toList();
    if (parts.isEmpty()) {
      return null;
    }
    if (parts.size() < names.length) {
      throw new InvalidInputException(
          "%s: has some of %s; expected all or none"
              .formatted(file.name(), String.join(", ", names)));
    }
    float[] all = new float[parts.stream().mapToInt(part -> part.length).sum()];
    int at = 0;
    for (float[] part : parts) {
      System.arraycopy(part, 0, all, at, part.length);
      at += part.length;
    }
    return floats(all);
  }

  private DeviceMemory floats(float[] numbers) {
    DeviceMemory memory = keep(context.allocate((long) numbers.length * Float.BYTES));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment copy = arena.allocateFrom(JAVA_FLOAT, numbers);
      memory.upload(stream, 0, copy, copy.byteSize());
      stream.synchronize();
    }
    return memory;
  }

  private <T extends AutoCloseable> T keep(T each) {
    taken.add(each);
    return each;
  }

  DeviceMatrix embedding() {
    return embedding;
  }

  List<Layer> layers() {
    return layers;
  }

  DeviceMemory outputNorm() {
    return outputNorm;
  }

  DeviceMatrix output() {
    return output;
  }

  /** By which pairs of channels turn from a position to the next. */
  DeviceMemory frequencies() {
    return frequencies;
  }

  @Override
  public void close() {
    try {
      for (AutoCloseable each : taken) {
        each.close();
      }
    } catch (Exception e) {
      throw new IllegalStateException(e); // none of them throws a checked one
    }
  }
}
