package dev.kvasir.lab.codebook;

import dev.kvasir.codec.commvq.Codebook;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.codebook.VectorSample.Side;
import dev.kvasir.lab.work.Runner;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Predicate;

/**
 * Trains the codebooks of a plan, each as a task. A codebook depends only on the sample, the plan
 * and the seed, not on threads or on other codebooks, so training can resume after a cancellation.
 */
public final class CodebookTraining {
  private final VectorSample sample;
  private final CodebookPlan plan;
  private final long seed;

  public CodebookTraining(VectorSample sample, CodebookPlan plan, long seed) {
    this.sample = sample;
    this.plan = plan;
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
    return run(head -> !finished.contains(head), runner, listener, save);
  }

  /** Does the same for the codebooks of one side. */
  public boolean runSide(
      Side side,
      Set<HeadId> finished,
      Runner runner,
      ProgressListener listener,
      BiConsumer<HeadId, Codebook> save) {
    return run(
        head -> head.side() == side && !finished.contains(head), runner, listener, save);
  }

  private boolean run(
      Predicate<HeadId> wanted,
      Runner runner,
      ProgressListener listener,
      BiConsumer<HeadId, Codebook> save) {
    List<HeadTrainingTask> tasks =
        plan.books(sample.shape()).stream()
            .filter(wanted)
            .map(head -> HeadTrainingTask.of(head, sample, plan, seed))
            .toList();
    return runner.<SerializedCodebook>run(
        tasks,
        listener,
        (task, rows) -> {
          HeadId head = tasks.get(task).head();
          save.accept(head, rows.codebook(head.side(), plan));
        });
  }
}
