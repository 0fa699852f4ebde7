package dev.kvasir.lab.codebook.encoder;

import dev.kvasir.codec.commvq.EncoderWeights;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.codebook.VectorSample;
import dev.kvasir.lab.work.Runner;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;

/** Trains the encoders of all layers, each as a task. */
public final class EncoderTraining {
  private final VectorSample sample;
  private final List<int[]> texts;
  private final EncoderSettings settings;
  private final long seed;

  /**
   * @param texts token ids of the training text, read again where outputs count
   */
  public EncoderTraining(
      VectorSample sample, List<int[]> texts, EncoderSettings settings, long seed) {
    this.sample = sample;
    this.texts = settings.loss().countsOutputs() ? List.copyOf(texts) : List.of();
    this.settings = settings;
    this.seed = seed;
  }

  /**
   * @param finished layers that are already trained
   * @param save receives each layer with its encoder
   * @return false if the listener cancelled the training
   */
  public boolean run(
      Set<Integer> finished,
      Runner runner,
      ProgressListener listener,
      BiConsumer<Integer, EncoderWeights> save) {
    int[][] ids = texts.toArray(int[][]::new);
    List<EncoderTrainingTask> tasks =
        IntStream.range(0, sample.shape().layers())
            .filter(layer -> !finished.contains(layer))
            .mapToObj(
                layer ->
                    new EncoderTrainingTask(
                        layer, LayerValues.in(sample, layer), ids, settings, seed))
            .toList();
    return runner.<SerializedEncoder>run(
        tasks,
        listener,
        (task, numbers) -> save.accept(tasks.get(task).layer(), numbers.weights()));
  }
}
