package dev.kvasir.lab.forecast;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.commvq.AdditiveStages;
import dev.kvasir.codec.commvq.CommvqProfile;
import dev.kvasir.lab.codebook.TextVectors;
import dev.kvasir.lab.codebook.TrainingSettings;
import dev.kvasir.lab.codebook.TrainingSpeed;
import dev.kvasir.model.ModelConfig;
import java.util.List;

/** What codebooks of all heads take. */
public final class CommvqForecast {
  private CommvqForecast() {}

  /**
   * @param tokens of the text
   * @param atATime a thread trains a head
   */
  public static Forecast of(
      ModelConfig config,
      int bits,
      TextVectors.Settings settings,
      int tokens,
      Concurrency concurrency) {
    config.rotation(); // codebooks of keys turn with it: refused before they are trained
    CacheShape shape = config.cacheShape();
    int length = settings.length();
    int heads = 2 * shape.layers() * shape.kvHeads();
    int heldOut = TextVectors.heldOut(tokens, length);
    int training = Math.min(settings.tokens(), tokens - heldOut);
    int stretches = Math.max(1, tokens / length);
    TrainingSettings how = TrainingSettings.of(CommvqProfile.stages(bits, shape.headDim()));
    long vector = (long) Short.BYTES * shape.headDim();
    long codebook = (long) Float.BYTES * how.stages() * 2 * AdditiveStages.ROWS * shape.headDim();
    long read = Math.min(stretches, concurrency.tasks());
    long stretch = heads * vector * length;
    long trained =
        Math.min(heads, concurrency.allThreads())
            * TrainingSpeed.heapBytes(how, shape.headDim(), training);
    return new Forecast(
        List.of(
            new ForecastStage(
                "reading %d stretches of %d tokens".formatted(stretches, length),
                ComputeKind.READING,
                stretches,
                stretches * new DecoderFlops(config).forward(length)),
            new ForecastStage(
                "codebooks of %d heads, %d vectors each".formatted(heads, training),
                ComputeKind.TRAINING,
                heads,
                heads * TrainingSpeed.operations(how, shape.headDim(), training))),
        // A profile holds all codebooks, and so do what is put in and what is written.
        Math.max(read * stretch, Math.max(trained, 3 * heads * codebook)),
        read * Float.BYTES * heads * shape.headDim() * length,
        heads * vector * (training + heldOut) + heads * codebook);
  }
}
