package dev.kvasir.cuda.kernels;

import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.format.GgmlType;
import dev.kvasir.model.ExpertConfig;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.model.TensorNames.Part;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;

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
  StackedMatrices loadEmbedding(CudaContext context, CudaStream stream) {
    return random(context, stream, config.vocabulary(), config.hidden());
  }

  @Override
  Optional<StackedMatrices> loadOutput(CudaContext context, CudaStream stream) {
    return Optional.of(random(context, stream, config.vocabulary(), config.hidden()));
  }

  @Override
  StackedMatrices loadMatrix(CudaContext context, CudaStream stream, int layer, List<Part> parts) {
    int columns =
        switch (parts.getFirst()) {
          case DOWN -> config.feedForward();
          case OUTPUT -> config.queryHeads() * config.headDim();
          default -> config.hidden();
        };
    return random(context, stream, parts.stream().mapToInt(this::rows).sum(), columns);
  }

  @Override
  DeviceExperts loadExperts(CudaContext context, CudaStream stream, int layer) {
    ExpertConfig experts = config.experts().orElseThrow();
    int gates = experts.count() + (experts.sharedGate() ? 1 : 0);
    float[] router = new float[gates * config.hidden()];
    Random random = new Random(layer);
    for (int i = 0; i < router.length; i++) {
      router[i] = (float) random.nextGaussian();
    }
    return DeviceExperts.of(
        context,
        stream,
        new DeviceRouter(upload(context, stream, router), null, null),
        randomExperts(context, stream, 2 * experts.width(), config.hidden()),
        randomExperts(context, stream, config.hidden(), experts.width()),
        null,
        experts.sharedWidth() == 0 ? null : randomShared(context, stream, experts.sharedWidth()));
  }

  private SharedExpert randomShared(CudaContext context, CudaStream stream, int width) {
    return new SharedExpert(
        random(context, stream, 2 * width, config.hidden()),
        random(context, stream, config.hidden(), width));
  }

  private List<StackedMatrices> randomExperts(
      CudaContext context, CudaStream stream, int rows, int columns) {
    return IntStream.range(0, config.experts().orElseThrow().count())
        .mapToObj(expert -> random(context, stream, rows, columns, false))
        .toList();
  }

  private StackedMatrices random(CudaContext context, CudaStream stream, int rows, int columns) {
    return random(context, stream, rows, columns, context.device().hasWarpgroupProducts());
  }

  private StackedMatrices random(
      CudaContext context, CudaStream stream, int rows, int columns, boolean blocks) {
    return new StackedMatrices(
        List.of(DeviceMatrix.random(context, stream, type, rows, columns, blocks)));
  }

  private int rows(Part part) {
    return switch (part) {
      case QUERY -> config.queryHeads() * config.headDim();
      case KEY, VALUE -> config.kvHeads() * config.headDim();
      case OUTPUT, DOWN -> config.hidden();
      default -> config.feedForward();
    };
  }

  @Override
  DeviceMemory outputNorm() {
    return ones();
  }

  /** Heads are not normalized. */
  @Override
  DeviceMemory norm(int layer, Part part) {
    return part == Part.QUERY_NORM || part == Part.KEY_NORM ? null : ones();
  }

  @Override
  DeviceMemory biases(int layer, Part... parts) {
    return null;
  }

  @Override
  Optional<float[]> sinkScores(int layer) {
    return Optional.empty();
  }

  private DeviceMemory ones() {
    float[] ones = new float[config.hidden()];
    Arrays.fill(ones, 1);
    return floats(ones);
  }
}
