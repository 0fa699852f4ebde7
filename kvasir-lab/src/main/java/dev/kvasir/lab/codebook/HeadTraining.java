package dev.kvasir.lab.codebook;

import dev.kvasir.Model;
import dev.kvasir.codec.commvq.AdditiveStages;
import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.codebook.VectorSample.Side;
import dev.kvasir.lab.work.Piece;
import dev.kvasir.lab.work.Stopped;
import dev.kvasir.lab.work.Worksite;
import java.util.Locale;
import java.util.SplittableRandom;

/** Trains the codebook of a head, which depends on what this says and on nothing else. */
record HeadTraining(TrainedHead head, SampledHead vectors, TrainingSettings settings, long seed)
    implements Piece<HeadRows> {
  @Override
  public String name() {
    return "codebook of " + head.name();
  }

  @Override
  public double work() {
    return StagesTrainer.steps(settings);
  }

  @Override
  public boolean single() {
    return true;
  }

  @Override
  public long bytes(Model model) {
    return TrainingSpeed.heap(settings, vectors.headDim(), vectors.count());
  }

  @Override
  public HeadRows run(Worksite site, WorkListener listener) {
    CentredHead centred = vectors.centred();
    RowStructure structure = head.side() == Side.KEYS ? RowStructure.COMMUTING : RowStructure.FREE;
    StagesTrainer trainer =
        new StagesTrainer(centred.set(), structure, settings, new Steps(listener));
    AdditiveStages stages = trainer.train(random()).orElseThrow(Stopped::new);
    return new HeadRows(centred.mean(), stages.rows());
  }

  private SplittableRandom random() {
    long number = ((long) head.layer() << 16 | head.kvHead()) << 1 | head.side().ordinal();
    return new SplittableRandom(new SplittableRandom(seed + number).nextLong());
  }

  /** Tells how the error falls. */
  private final class Steps implements StagesTrainer.Listener {
    private final WorkListener listener;
    private int done;

    Steps(WorkListener listener) {
      this.listener = listener;
    }

    @Override
    public boolean goesOn(double error) {
      listener.doing(String.format(Locale.ROOT, "%s: %.3f left", head.name(), error));
      listener.progress(++done, work());
      return !listener.stopped();
    }
  }
}
