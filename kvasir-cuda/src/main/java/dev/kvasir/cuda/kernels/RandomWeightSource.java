package dev.kvasir.cuda.kernels;

import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.format.GgmlType;
import dev.kvasir.model.ModelConfig;
import java.util.Arrays;
import java.util.List;

/** Random weights with the sizes of a model; steps take as long as with real ones. */
final class RandomWeightSource extends WeightSource {
  private final ModelConfig config;
  private final GgmlType type; // of all matrices

  RandomWeightSource(CudaContext context, CudaStream stream, ModelConfig config, GgmlType type) {
    super(context, stream);
    this.config = config;
    this.type = type;
  }

  @Override
  boolean has(String name) {
    return name.equals("output.weight");
  }

  @Override
  StackedMatrices loadMatrix(CudaContext context, CudaStream stream, List<String> names) {
    int rows = names.stream().mapToInt(this::rows).sum();
    int columns =
        names.getFirst().endsWith("ffn_down.weight")
            ? config.feedForward()
            : names.getFirst().endsWith("attn_output.weight")
                ? config.queryHeads() * config.headDim()
                : config.hidden();
    return new StackedMatrices(List.of(DeviceMatrix.random(context, stream, type, rows, columns)));
  }

  private int rows(String name) {
    return switch (name.replaceFirst("blk\\.\\d+\\.", "")) {
      case "token_embd.weight", "output.weight" -> config.vocabulary();
      case "attn_q.weight" -> config.queryHeads() * config.headDim();
      case "attn_k.weight", "attn_v.weight" -> config.kvHeads() * config.headDim();
      case "attn_output.weight", "ffn_down.weight" -> config.hidden();
      default -> config.feedForward();
    };
  }

  @Override
  DeviceMemory vector(String... names) {
    float[] ones = new float[config.hidden()];
    Arrays.fill(ones, 1);
    return floats(ones);
  }
}
