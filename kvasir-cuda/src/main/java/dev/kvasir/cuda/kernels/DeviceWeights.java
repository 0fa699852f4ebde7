package dev.kvasir.cuda.kernels;

import static java.util.stream.Collectors.toSet;

import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.TensorSource;
import dev.kvasir.model.LoadProgress;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.TensorNames.Part;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
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

  /** Loads the weights of a file that {@link FileWeightSource#check} has accepted. */
  public static DeviceWeights of(
      CudaContext context,
      CudaStream stream,
      TensorSource file,
      ModelConfig config,
      LoadProgress progress) {
    return of(new FileWeightSource(context, stream, file, config), config, progress);
  }

  /** Creates random weights of a type for benchmarks. */
  public static DeviceWeights random(
      CudaContext context, CudaStream stream, ModelConfig config, GgmlType type) {
    return of(new RandomWeightSource(context, stream, config, type), config, (done, inAll) -> {});
  }

  private static DeviceWeights of(WeightSource source, ModelConfig config, LoadProgress progress) {
    StackedMatrices embedding = source.embedding();
    List<Layer> layers = new ArrayList<>();
    for (int i = 0; i < config.layers(); i++) {
      layers.add(layer(source, i));
      progress.layers(i + 1, config.layers());
    }
    return new DeviceWeights(
        embedding,
        List.copyOf(layers),
        source.outputNorm(),
        source.output().orElse(embedding),
        source.floats(
            config.rope().frequencies().of(config.rope().base(), config.rope().dimensions())),
        source);
  }

  private static Layer layer(WeightSource source, int index) {
    return new Layer(
        source.norm(index, Part.ATTENTION_NORM),
        source.matrix(index, Part.QUERY, Part.KEY, Part.VALUE),
        source.biases(index, Part.QUERY, Part.KEY, Part.VALUE),
        source.norm(index, Part.QUERY_NORM),
        source.norm(index, Part.KEY_NORM),
        source.matrix(index, Part.OUTPUT),
        source.norm(index, Part.FEED_FORWARD_NORM),
        source.matrix(index, Part.GATE, Part.UP),
        source.matrix(index, Part.DOWN));
  }

  /** Returns the formats of all matrices. */
  Set<WeightFormat> formats() {
    return Stream.concat(Stream.of(embedding), multiplied())
        .flatMap(stack -> stack.parts().stream())
        .map(DeviceMatrix::format)
        .collect(toSet());
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
