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

/** Trains the codebook of a head. The result depends only on the components of this record. */
record HeadTrainingTask(HeadId head, SampledHead vectors, TrainingSettings settings, long seed)
    implements LabTask<SerializedCodebook> {
  @Override
  public String name() {
    return "codebook of " + head.name();
  }

  @Override
  public double cost() {
    return StagesTrainer.steps(settings);
  }

  @Override
  public boolean singleThreaded() {
    return true;
  }

  @Override
  public long peakBytes(LoadedModel model) {
    return TrainingSpeed.heapBytes(settings, vectors.headDim(), vectors.count());
  }

  @Override
  public SerializedCodebook run(WorkerContext context, ProgressListener listener) {
    CentredHead centred = vectors.centred();
    RowStructure structure = head.side() == Side.KEYS ? RowStructure.COMMUTING : RowStructure.FREE;
    StagesTrainer trainer =
        new StagesTrainer(centred.set(), structure, settings, new TrainingErrorListener(listener));
    AdditiveStages stages = trainer.train(random()).orElseThrow(WorkCancelledException::new);
    return new SerializedCodebook(centred.mean(), stages.rows());
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
