package dev.kvasir.cuda;

import dev.kvasir.format.TensorSource;
import dev.kvasir.model.ModelConfig;
import java.util.List;
import java.util.stream.IntStream;

/**
 * All weights of a decoder on a device. Products with the same rows are one.
 *
 * @param output the embedding itself where the two are tied
 * @param frequencies by which pairs of channels turn from a position to the next
 * @param source what the memory belongs to
 */
record DeviceWeights(
    DeviceMatrix embedding,
    List<Layer> layers,
    DeviceMemory outputNorm,
    DeviceMatrix output,
    DeviceMemory frequencies,
    WeightSource source)
    implements AutoCloseable {
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

  /** Those of a GGUF file. */
  static DeviceWeights of(Context context, Stream stream, TensorSource file, ModelConfig config) {
    GgufWeights source = new GgufWeights(context, stream, file);
    source.check(config);
    return of(source, config);
  }

  /** Any, to measure with. */
  static DeviceWeights random(Context context, Stream stream, ModelConfig config) {
    return of(new RandomWeights(context, stream, config), config);
  }

  private static DeviceWeights of(WeightSource source, ModelConfig config) {
    DeviceMatrix embedding = source.matrix("token_embd.weight");
    return new DeviceWeights(
        embedding,
        IntStream.range(0, config.layers()).mapToObj(i -> layer(source, i)).toList(),
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
        source.matrix(name + "attn_output.weight"),
        source.vector(name + "ffn_norm.weight"),
        source.matrix(name + "ffn_gate.weight", name + "ffn_up.weight"),
        source.matrix(name + "ffn_down.weight"));
  }

  @Override
  public void close() {
    source.close();
  }
}
