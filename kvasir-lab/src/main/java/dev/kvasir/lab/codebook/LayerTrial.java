package dev.kvasir.lab.codebook;

import dev.kvasir.codec.commvq.AdditiveStages;
import dev.kvasir.codec.commvq.BeamEncoder;
import dev.kvasir.codec.commvq.Codebook;
import dev.kvasir.codec.commvq.KeyCodebook;
import dev.kvasir.codec.commvq.LayerCodebooks;
import dev.kvasir.codec.commvq.ValueCodebook;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.codebook.VectorSample.Side;
import dev.kvasir.lab.work.LocalRunner;
import dev.kvasir.lab.work.WorkerContext;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Trains codebooks of one layer with different settings to compare error and bits. */
public final class LayerTrial {
  /** Beam width of the encoder. */
  private static final int BEAM = 4;

  private final int layer;
  private final int threads;
  private final long seed;
  private final BooleanSupplier stopped;

  /**
   * @param stopped polled often; true ends a training without a result
   */
  public LayerTrial(int layer, int threads, long seed, BooleanSupplier stopped) {
    this.layer = layer;
    this.threads = threads;
    this.seed = seed;
    this.stopped = stopped;
  }

  /** Trains the codebooks of the layer as calibration does. */
  public Optional<LayerCodebooks> train(VectorSample sample, int stages) {
    Map<HeadId, Codebook> books = new HashMap<>();
    ProgressListener cancellable =
        new ProgressListener() {
          @Override
          public void progress(double done, double total) {}

          @Override
          public boolean isCancelled() {
            return stopped.getAsBoolean();
          }
        };
    boolean whole =
        new CodebookTraining(sample, plan(sample, stages), seed)
            .run(
                otherLayers(sample, stages),
                new LocalRunner(WorkerContext.empty(threads)),
                cancellable,
                books::put);
    if (!whole) {
      return Optional.empty();
    }
    return Optional.of(
        new LayerCodebooks(
            books(sample, Side.KEYS, stages).map(books::get).map(KeyCodebook.class::cast).toList(),
            books(sample, Side.VALUES, stages)
                .map(books::get)
                .map(ValueCodebook.class::cast)
                .toList()));
  }

  private static CodebookPlan plan(VectorSample sample, int stages) {
    return CodebookPlan.of(sample.shape(), TrainingSettings.of(stages));
  }

  private Stream<HeadId> books(VectorSample sample, Side side, int stages) {
    return plan(sample, stages).books(sample.shape()).stream()
        .filter(book -> book.layer() == layer && book.side() == side);
  }

  private Set<HeadId> otherLayers(VectorSample sample, int stages) {
    return plan(sample, stages).books(sample.shape()).stream()
        .filter(book -> book.layer() != layer)
        .collect(Collectors.toSet());
  }

  /** Returns the error of these codebooks on other vectors, relative to their squared norm. */
  public double relativeError(VectorSample test, LayerCodebooks books, Side side) {
    List<? extends Codebook> heads = side == Side.KEYS ? books.keys() : books.values();
    return HeldOutError.of(test, side, layer, heads, BEAM).ofVectors();
  }

  /**
   * Returns the error of key codebooks on other vectors where a code covers a group of channel
   * pairs, each group with its own stages. The error is relative to the squared norm of the
   * centered vectors.
   *
   * @param pairs channel pairs that share a code; a divisor of all pairs
   */
  public OptionalDouble groupedKeyError(
      VectorSample training, VectorSample test, int pairs, int stages) {
    int groups = training.shape().headDim() / 2 / pairs;
    double[] errors =
        IntStream.range(0, training.shape().kvHeads() * groups)
            .parallel()
            .mapToDouble(
                i -> {
                  HeadId head = new HeadId(Side.KEYS, layer, i / groups);
                  PairGroups divided = new PairGroups(training.shape().headDim(), 2 * pairs);
                  return squaredError(
                      divided.part(keys(training, head), i % groups),
                      divided.part(keys(test, head), i % groups),
                      stages,
                      new SplittableRandom(seed + i));
                })
            .toArray();
    double energy =
        books(test, Side.KEYS, stages).mapToDouble(head -> keys(test, head).energy()).sum();
    double residual = 0;
    for (double error : errors) {
      residual += error;
    }
    return stopped.getAsBoolean() ? OptionalDouble.empty() : OptionalDouble.of(residual / energy);
  }

  private static TrainingSet keys(VectorSample sample, HeadId head) {
    return SampledHead.in(sample, head, 1).centred().set();
  }

  private double squaredError(
      TrainingSet training, TrainingSet test, int stages, SplittableRandom random) {
    StagesTrainer trainer =
        new StagesTrainer(
            training,
            RowStructure.COMMUTING,
            AdditiveStages.ROWS,
            TrainingSettings.of(stages),
            error -> !stopped.getAsBoolean());
    Optional<AdditiveStages> found = trainer.train(random);
    if (found.isEmpty()) {
      return 0;
    }
    short[] codes = new short[test.count() * stages];
    Kernels kernels = KernelChoice.ofThisProcess().kernels();
    new BeamEncoder(kernels, BEAM).encode(found.get(), test.x(), 0, test.count(), codes, 0);
    float[] sum = new float[test.length()];
    double error = 0;
    for (int i = 0; i < test.count(); i++) {
      found.get().decode(codes, i * stages, sum, 0);
      for (int d = 0; d < sum.length; d++) {
        double residual = test.x()[i * sum.length + d] - sum[d];
        error += residual * residual;
      }
    }
    return error;
  }
}
