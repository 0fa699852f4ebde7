package dev.kvasir.cuda.kernels;

import static java.util.stream.Collectors.toSet;

import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.format.GgmlType;
import dev.kvasir.format.TensorSource;
import dev.kvasir.model.LayerRange;
import dev.kvasir.model.LoadProgress;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.NormPlacement;
import dev.kvasir.model.TensorNames.Part;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * All weights of a decoder on a device, or those of consecutive layers. Matrices with the same
 * input are stacked.
 *
 * @param embedding null without the first layer
 * @param outputNorm null without the last layer
 * @param output the embedding itself if the two are tied; null without the last layer
 * @param frequencies RoPE frequencies of channel pairs, by kind of RoPE
 * @param source owner of the memory
 */
public record DeviceWeights(
    StackedMatrices embedding,
    List<Layer> layers,
    DeviceMemory outputNorm,
    StackedMatrices output,
    List<DeviceMemory> frequencies,
    WeightSource source)
    implements AutoCloseable {
  /**
   * What is added to the output of a layer's part and normalizes it.
   *
   * @param bias null if there is none
   * @param norm null if there is none
   */
  public record Finish(DeviceMemory bias, DeviceMemory norm) {
    boolean isNothing() {
      return bias == null && norm == null;
    }
  }

  /**
   * @param attentionNorm null if the input of attention is not normalized
   * @param projections of queries, keys and values
   * @param bias of the three projections; null if there is none
   * @param queryNorm of every query head or of all together; null if they are not normalized
   * @param keyNorm of every key head or of all together; null if they are not normalized
   * @param feedForwardNorm null if the input of the feed-forward network is not normalized
   * @param sinkScores of learned sinks, by query head, times log2(e); null if there are none
   * @param gateAndUp the first two matrices of the feed-forward network; null if it has experts
   * @param down null if the feed-forward network has experts
   * @param experts null if the feed-forward network is dense
   */
  public record Layer(
      DeviceMemory attentionNorm,
      StackedMatrices projections,
      DeviceMemory bias,
      DeviceMemory queryNorm,
      DeviceMemory keyNorm,
      DeviceMemory sinkScores,
      StackedMatrices output,
      Finish attentionOut,
      DeviceMemory feedForwardNorm,
      StackedMatrices gateAndUp,
      StackedMatrices down,
      DeviceExperts experts,
      Finish feedForwardOut) {
    /** Returns the matrices whose operands the input of the feed-forward network becomes. */
    public StackedMatrices feedForwardIn() {
      return experts == null ? gateAndUp : experts.inputs();
    }

    private Stream<StackedMatrices> multiplied() {
      return Stream.concat(
          Stream.of(projections, output),
          experts == null ? Stream.of(gateAndUp, down) : experts.matrices());
    }

    /** Returns the address of the scores of learned sinks; 0 if there are none. */
    public long sinkScoresAddress() {
      return DeviceMatrix.address(sinkScores);
    }

    /** Returns whether norms are of all heads together. */
    boolean normalizesAllHeads(int headDim) {
      return queryNorm != null && queryNorm.bytes() != (long) headDim * Float.BYTES;
    }
  }

  /**
   * Loads the weights of a file that {@link FileWeightSource#check} has accepted.
   *
   * @param config of all layers
   */
  public static DeviceWeights of(
      CudaContext context,
      CudaStream stream,
      TensorSource file,
      ModelConfig config,
      LayerRange range,
      LoadProgress progress) {
    return of(new FileWeightSource(context, stream, file, config), config, range, progress);
  }

  /** Creates random weights of a type for benchmarks. */
  public static DeviceWeights random(
      CudaContext context, CudaStream stream, ModelConfig config, GgmlType type) {
    return of(
        new RandomWeightSource(context, stream, config, type),
        config,
        LayerRange.whole(config.layers()),
        (done, inAll) -> {});
  }

  private static DeviceWeights of(
      WeightSource source, ModelConfig config, LayerRange range, LoadProgress progress) {
    StackedMatrices embedding = range.isFirst() ? source.embedding() : null;
    List<Layer> layers = new ArrayList<>();
    for (int i = range.first(); i < range.end(); i++) {
      layers.add(layer(source, config, i));
      progress.layers(i + 1, config.layers());
    }
    return new DeviceWeights(
        embedding,
        List.copyOf(layers),
        range.isLast() ? source.outputNorm() : null,
        range.isLast() ? output(source, embedding) : null,
        config.ropes().kinds().stream()
            .map(rope -> rope.frequencies().of(rope.base(), rope.dimensions()))
            .map(source::floats)
            .toList(),
        source);
  }

  /**
   * @param embedding null if it is on another card
   */
  private static StackedMatrices output(WeightSource source, StackedMatrices embedding) {
    return source.output().orElseGet(() -> embedding == null ? source.embedding() : embedding);
  }

  private static Layer layer(WeightSource source, ModelConfig config, int index) {
    NormPlacement norms = config.architecture().norms();
    boolean routed = config.hasExperts(index);
    return new Layer(
        norm(source, index, norms.attention()),
        source.matrix(index, Part.QUERY, Part.KEY, Part.VALUE),
        source.biases(index, Part.QUERY, Part.KEY, Part.VALUE),
        source.norm(index, Part.QUERY_NORM),
        source.norm(index, Part.KEY_NORM),
        source.sinkScores(index).map(scores -> source.floats(scaled(scores))).orElse(null),
        source.matrix(index, Part.OUTPUT),
        new Finish(source.biases(index, Part.OUTPUT), norm(source, index, norms.attentionOut())),
        norm(source, index, norms.feedForward()),
        routed ? null : source.matrix(index, Part.GATE, Part.UP),
        routed ? null : source.matrix(index, Part.DOWN),
        routed ? source.experts(index) : null,
        new Finish(
            routed ? null : source.biases(index, Part.DOWN),
            norm(source, index, norms.feedForwardOut())));
  }

  /** Returns scores for softmax with powers of two. */
  private static float[] scaled(float[] scores) {
    float[] scaled = new float[scores.length];
    for (int i = 0; i < scores.length; i++) {
      scaled[i] = (float) (scores[i] / Math.log(2));
    }
    return scaled;
  }

  private static DeviceMemory norm(WeightSource source, int index, Optional<Part> part) {
    return part.map(known -> source.norm(index, known)).orElse(null);
  }

  /** Returns the formats of all matrices. */
  Set<WeightFormat> formats() {
    return Stream.concat(Stream.ofNullable(embedding), multiplied())
        .flatMap(stack -> stack.parts().stream())
        .map(DeviceMatrix::format)
        .collect(toSet());
  }

  /** Returns all matrices that are multiplied with activations. */
  Stream<StackedMatrices> multiplied() {
    return Stream.concat(Stream.ofNullable(output), layers.stream().flatMap(Layer::multiplied));
  }

  public long bytes() {
    return source.bytes();
  }

  @Override
  public void close() {
    source.close();
  }
}
