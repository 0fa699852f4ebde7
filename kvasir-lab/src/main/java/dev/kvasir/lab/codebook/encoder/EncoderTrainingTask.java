package dev.kvasir.lab.codebook.encoder;

import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.work.LabTask;
import dev.kvasir.lab.work.WorkCancelledException;
import dev.kvasir.lab.work.WorkerContext;
import dev.kvasir.runtime.LoadedModel;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * Trains the encoder of a layer.
 *
 * @param texts token ids to read where outputs count; empty elsewhere
 */
record EncoderTrainingTask(
    int layer, LayerValues values, int[][] texts, EncoderSettings settings, long seed)
    implements LabTask<SerializedEncoder> {
  @Override
  public String name() {
    return "encoder of layer " + layer;
  }

  @Override
  public double cost() {
    return settings.steps();
  }

  @Override
  public boolean singleThreaded() {
    return true;
  }

  @Override
  public long peakBytes(LoadedModel model) {
    return EncoderWork.heapBytes(settings, values.width(), values.count());
  }

  @Override
  public SerializedEncoder run(WorkerContext context, ProgressListener listener) {
    EncoderTrainer trainer =
        new EncoderTrainer(KernelChoice.ofThisProcess().kernels(), tokens(context), settings);
    return trainer
        .train(
            new SplittableRandom(seed + layer).nextLong(),
            (step, error) -> {
              listener.status(String.format(Locale.ROOT, "%s: %.3f left", name(), error));
              listener.progress(step, cost());
              return !listener.isCancelled();
            })
        .orElseThrow(WorkCancelledException::new);
  }

  private AttendedTokens tokens(WorkerContext context) {
    if (texts.length == 0) {
      return values.tokens();
    }
    try (WorkerPool workers = new WorkerPool(1)) {
      return AttendedReader.read(
          context.model(), layer, List.of(texts), workers, ProgressListener.NONE);
    }
  }
}
