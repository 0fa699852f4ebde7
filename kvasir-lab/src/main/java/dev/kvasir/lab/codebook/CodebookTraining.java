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
 * Trains the codebooks of all heads, each as a task. A codebook depends only on the sample, the
 * settings and the seed, not on threads or on other heads, so training can resume after a
 * cancellation.
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
   * @param finished heads that are already trained
   * @param save receives each final codebook
   * @return false if the listener cancelled the training
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

  /** Orders heads by layer, because a cancelled training is most useful with whole layers. */
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
