package dev.kvasir.cuda.kernels;

import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.GgufFile;
import dev.kvasir.model.LoadProgress;
import dev.kvasir.model.ModelConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * All weights of a decoder on a device. Matrices with the same input are stacked.
 *
 * @param output the embedding itself if the two are tied
 * @param frequencies RoPE frequencies of channel pairs
 * @param source owner of the memory
 */
public record DeviceWeights(
    StackedMatrices embedding,
    List<Layer> layers,
    DeviceMemory outputNorm,
    StackedMatrices output,
    DeviceMemory frequencies,
    WeightSource source)
    implements AutoCloseable {
  /**
   * @param projections of queries, keys and values
   * @param bias of the three projections; null if there is none
   * @param queryNorm of every query head; null if heads are not normalized
   * @param keyNorm of every key head; null if heads are not normalized
   * @param gateAndUp the first two matrices of the feed-forward network
   */
  public record Layer(
      DeviceMemory attentionNorm,
      StackedMatrices projections,
      DeviceMemory bias,
      DeviceMemory queryNorm,
      DeviceMemory keyNorm,
      StackedMatrices output,
      DeviceMemory feedForwardNorm,
      StackedMatrices gateAndUp,
      StackedMatrices down) {}

  /** Loads the weights of a GGUF file that {@link GgufWeightSource#check} has accepted. */
  public static DeviceWeights of(
      CudaContext context,
      CudaStream stream,
      GgufFile file,
      ModelConfig config,
      LoadProgress progress) {
    return of(new GgufWeightSource(context, stream, file, config), config, progress);
  }

  /** Creates random weights of a type for benchmarks. */
  public static DeviceWeights random(
      CudaContext context, CudaStream stream, ModelConfig config, GgmlType type) {
    return of(new RandomWeightSource(context, stream, config, type), config, (done, inAll) -> {});
  }

  private static DeviceWeights of(WeightSource source, ModelConfig config, LoadProgress progress) {
    StackedMatrices embedding = source.matrix("token_embd.weight");
    List<Layer> layers = new ArrayList<>();
    for (int i = 0; i < config.layers(); i++) {
      layers.add(layer(source, i));
      progress.layers(i + 1, config.layers());
    }
    return new DeviceWeights(
        embedding,
        List.copyOf(layers),
        source.vector("output_norm.weight"),
        source.has("output.weight") ? source.matrix("output.weight") : embedding,
        source.floats(
            config.rope().frequencies().of(config.rope().base(), config.rope().dimensions())),
        source);
  }

  private static Layer layer(WeightSource source, int index) {
    String name = "blk.%d.".formatted(index);
    return new Layer(
        source.vector(name + "attn_norm.weight"),
        source.matrix(name + "attn_q.weight", name + "attn_k.weight", name + "attn_v.weight"),
        source.has(name + "attn_q.bias")
            ? source.vector(name + "attn_q.bias", name + "attn_k.bias", name + "attn_v.bias")
            : null,
        vectorOrNone(source, name + "attn_q_norm.weight"),
        vectorOrNone(source, name + "attn_k_norm.weight"),
        source.matrix(name + "attn_output.weight"),
        source.vector(name + "ffn_norm.weight"),
        source.matrix(name + "ffn_gate.weight", name + "ffn_up.weight"),
        source.matrix(name + "ffn_down.weight"));
  }

  private static DeviceMemory vectorOrNone(WeightSource source, String name) {
    return source.has(name) ? source.vector(name) : null;
  }

  /** Returns all matrices that are multiplied with activations. */
  Stream<StackedMatrices> multiplied() {
    return Stream.concat(
        Stream.of(output),
        layers.stream()
            .flatMap(
                layer ->
                    Stream.of(
                        layer.projections(), layer.output(), layer.gateAndUp(), layer.down())));
  }

  public long bytes() {
    return source.bytes();
  }

  @Override
  public void close() {
    source.close();
  }
}
