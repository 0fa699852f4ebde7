package dev.kvasir.lab.mead;

import dev.kvasir.Model;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.work.LabTask;
import dev.kvasir.lab.work.WorkerContext;

/**
 * Generates some texts in one batch; they are independent of each other.
 *
 * @param first number of the first text
 * @param length tokens of a text
 */
record TextGenerationTask(int first, int count, int length, long seed) implements LabTask<int[][]> {
  @Override
  public String name() {
    return "texts %d to %d".formatted(first + 1, first + count);
  }

  @Override
  public double cost() {
    return (double) count * length;
  }

  @Override
  public long peakBytes(Model model) {
    return SelfGeneratedText.bytes(model.config().cacheShape(), count, length);
  }

  @Override
  public int[][] run(WorkerContext context, ProgressListener listener) {
    return new SelfGeneratedText(context.model(), length, seed).texts(first, count, listener);
  }
}
