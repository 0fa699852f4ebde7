package dev.kvasir.lab.codebook;

import dev.kvasir.codec.commvq.AdditiveStages;
import dev.kvasir.codec.commvq.Codebook;
import dev.kvasir.codec.commvq.KeyCodebook;
import dev.kvasir.codec.commvq.ValueCodebook;
import dev.kvasir.lab.codebook.VectorSample.Side;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Trains the codebooks of all heads, several at a time. A head's codebook depends on the sample,
 * the settings and the seed alone: not on threads, nor on which heads were trained before, so a
 * training that was stopped can be taken up where it ended.
 */
public final class CodebookTraining {
  private final VectorSample sample;
  private final TrainingSettings settings;
  private final long seed;
  private int done;
  private int inAll;

  public CodebookTraining(VectorSample sample, TrainingSettings settings, long seed) {
    this.sample = sample;
    this.settings = settings;
    this.seed = seed;
  }

  /**
   * @param finished heads that need no training any more
   * @param threads heads that are trained at a time
   */
  public void run(Set<TrainedHead> finished, int threads, TrainingListener listener) {
    List<TrainedHead> open = heads().stream().filter(head -> !finished.contains(head)).toList();
    done = 0;
    inAll = open.size() * StagesTrainer.steps(settings);
    ExecutorService workers = Executors.newFixedThreadPool(threads);
    try {
      List<CompletableFuture<Void>> runs = new ArrayList<>();
      for (TrainedHead head : open) {
        runs.add(CompletableFuture.runAsync(() -> train(head, listener), workers));
      }
      runs.forEach(CodebookTraining::await);
    } finally {
      workers.shutdownNow();
    }
  }

  private static void await(CompletableFuture<Void> run) {
    try {
      run.join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : e;
    }
  }

  /** Layer by layer, since a stopped training is of most use with whole layers. */
  private List<TrainedHead> heads() {
    List<TrainedHead> heads = new ArrayList<>();
    for (int layer = 0; layer < sample.shape().layers(); layer++) {
      for (Side side : Side.values()) {
        for (int kvHead = 0; kvHead < sample.shape().kvHeads(); kvHead++) {
          heads.add(new TrainedHead(side, layer, kvHead));
        }
      }
    }
    return heads;
  }

  private void train(TrainedHead head, TrainingListener listener) {
    if (stopped(listener)) {
      return;
    }
    CentredHead centred = CentredHead.of(sample, head);
    RowStructure structure = head.side() == Side.KEYS ? RowStructure.COMMUTING : RowStructure.FREE;
    StagesTrainer trainer =
        new StagesTrainer(
            centred.set(), structure, settings, error -> goesOn(head, error, listener));
    Optional<AdditiveStages> stages = trainer.train(random(head));
    if (stages.isPresent()) {
      Codebook codebook = codebook(head.side(), centred.mean(), stages.get());
      synchronized (this) {
        listener.finished(head, codebook);
      }
    }
  }

  private synchronized boolean stopped(TrainingListener listener) {
    return listener.stopped();
  }

  private synchronized boolean goesOn(TrainedHead head, double error, TrainingListener listener) {
    listener.progress(++done, inAll, head, error);
    return !listener.stopped();
  }

  private SplittableRandom random(TrainedHead head) {
    long number = ((long) head.layer() << 16 | head.kvHead()) << 1 | head.side().ordinal();
    return new SplittableRandom(new SplittableRandom(seed + number).nextLong());
  }

  private static Codebook codebook(Side side, float[] mean, AdditiveStages stages) {
    return switch (side) {
      case KEYS -> KeyCodebook.of(mean, stages);
      case VALUES -> new ValueCodebook(mean, stages);
    };
  }
}
