package dev.kvasir.lab.codebook;

import dev.kvasir.codec.commvq.AdditiveStages;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.codebook.VectorSample.Side;
import dev.kvasir.lab.work.LabTask;
import dev.kvasir.lab.work.WorkCancelledException;
import dev.kvasir.lab.work.WorkerContext;
import dev.kvasir.runtime.LoadedModel;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * Trains the codebook of a head's keys, or of a group's values. The result depends only on the
 * components of this record.
 *
 * @param channels that a code covers: those of the vectors, or of a group of a key's pairs
 * @param rows rows of a set
 */
record HeadTrainingTask(
    HeadId head, SampledHead vectors, int channels, int rows, TrainingSettings settings, long seed)
    implements LabTask<SerializedCodebook> {
  static HeadTrainingTask of(HeadId head, VectorSample sample, CodebookPlan plan, long seed) {
    return new HeadTrainingTask(
        head,
        SampledHead.in(sample, head, plan.valueHeads()),
        plan.trainedChannels(sample.shape(), head.side()),
        plan.rows(),
        plan.settings(head.side()),
        seed);
  }

  @Override
  public String name() {
    return "codebook of " + head.name();
  }

  /** Returns the steps of all stages; a step takes longer the more channels it has. */
  @Override
  public double cost() {
    return (double) groups() * StagesTrainer.steps(settings);
  }

  private int groups() {
    return vectors.channels() / channels;
  }

  @Override
  public boolean singleThreaded() {
    return true;
  }

  @Override
  public long peakBytes(LoadedModel model) {
    return TrainingSpeed.heapBytes(settings, vectors.channels(), vectors.count());
  }

  @Override
  public SerializedCodebook run(WorkerContext context, ProgressListener listener) {
    CentredHead centred = vectors.centred();
    RowStructure structure = head.side() == Side.KEYS ? RowStructure.COMMUTING : RowStructure.FREE;
    StagesTrainer.Listener errors = new TrainingErrorListener(listener);
    SplittableRandom random = random();
    PairGroups groups = new PairGroups(vectors.channels(), channels);
    float[][] trained = new float[groups.count()][];
    for (int group = 0; group < trained.length; group++) {
      TrainingSet part = groups.part(centred.set(), group);
      trained[group] =
          new StagesTrainer(part, structure, rows, settings, errors)
              .train(random)
              .map(AdditiveStages::rows)
              .orElseThrow(WorkCancelledException::new);
    }
    return new SerializedCodebook(centred.mean(), groups.join(trained));
  }

  private SplittableRandom random() {
    long number = ((long) head.layer() << 16 | head.kvHead()) << 1 | head.side().ordinal();
    return new SplittableRandom(new SplittableRandom(seed + number).nextLong());
  }

  /** Reports the falling error. */
  private final class TrainingErrorListener implements StagesTrainer.Listener {
    private final ProgressListener listener;
    private int done;

    TrainingErrorListener(ProgressListener listener) {
      this.listener = listener;
    }

    @Override
    public boolean shouldContinue(double error) {
      listener.status(String.format(Locale.ROOT, "%s: %.3f left", head.name(), error));
      listener.progress(++done, cost());
      return !listener.isCancelled();
    }
  }
}
