package dev.kvasir.lab.gradient;

import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.work.LabTask;
import dev.kvasir.lab.work.WorkerContext;
import dev.kvasir.runtime.LoadedModel;
import java.io.Serializable;

/** A task that runs a text through a {@link TracedDecoder}. */
public interface TracedTask<R extends Serializable> extends LabTask<R> {
  /** Returns the token ids of the text. */
  int[] text();

  @Override
  default long peakBytes(LoadedModel model) {
    return TracedDecoder.gradientBytes(model.config(), text().length);
  }

  /** Returns the factor for positions. */
  default double positionScale() {
    return 1;
  }

  /** Returns the precision of activations in the forward pass. */
  default ActivationPrecision precision() {
    return ActivationPrecision.FLOATS;
  }

  /**
   * @throws dev.kvasir.lab.work.WorkCancelledException if the listener cancels the task
   */
  R run(TracedDecoder decoder, ProgressListener listener);

  @Override
  default R run(WorkerContext context, ProgressListener listener) {
    try (WorkerPool workers = new WorkerPool(context.threads())) {
      return run(
          TracedDecoder.of(context.model(), positionScale(), precision(), workers), listener);
    }
  }
}
