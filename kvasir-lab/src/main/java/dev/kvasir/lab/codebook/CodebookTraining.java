package dev.kvasir.lab.codebook;

import dev.kvasir.codec.commvq.Codebook;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.codebook.VectorSample.Side;
import dev.kvasir.lab.work.Runner;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;

/**
 * Trains the codebooks of all heads, each a piece. A head's codebook depends on the sample, the
 * settings and the seed alone: not on threads, nor on which heads were trained before, so a
 * training that was stopped can be taken up where it ended.
 */
public final class CodebookTraining {
  private final VectorSample sample;
  private final TrainingSettings settings;
  private final long seed;

  public CodebookTraining(VectorSample sample, TrainingSettings settings, long seed) {
    this.sample = sample;
    this.settings = settings;
    this.seed = seed;
  }

  /**
   * @param finished heads that need no training any more
   * @param keep takes each codebook when it is as good as it will be: the moment to store it
   * @return false where the listener ended it
   */
  public boolean run(
      Set<HeadId> finished,
      Runner runner,
      ProgressListener listener,
      BiConsumer<HeadId, Codebook> save) {
    List<HeadTrainingTask> tasks =
        headsByLayer().stream()
            .filter(head -> !finished.contains(head))
            .map(head -> new HeadTrainingTask(head, SampledHead.in(sample, head), settings, seed))
            .toList();
    return runner.<SerializedCodebook>run(
        tasks,
        listener,
        (task, rows) -> {
          HeadId head = tasks.get(task).head();
          save.accept(head, rows.codebook(head.side()));
        });
  }

  /** Layer by layer, since a stopped training is of most use with whole layers. */
  private List<HeadId> headsByLayer() {
    List<HeadId> heads = new ArrayList<>();
    for (int layer = 0; layer < sample.shape().layers(); layer++) {
      for (Side side : Side.values()) {
        for (int kvHead = 0; kvHead < sample.shape().kvHeads(); kvHead++) {
          heads.add(new HeadId(side, layer, kvHead));
        }
      }
    }
    return heads;
  }
}
