package dev.kvasir.lab.calibrator.commvq;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.commvq.AdditiveStages;
import dev.kvasir.codec.commvq.CommvqProfile;
import dev.kvasir.lab.codebook.TextVectors;
import dev.kvasir.lab.codebook.TrainingSettings;
import dev.kvasir.lab.codebook.TrainingSpeed;
import dev.kvasir.lab.forecast.ComputeKind;
import dev.kvasir.lab.forecast.Concurrency;
import dev.kvasir.lab.forecast.DecoderFlops;
import dev.kvasir.lab.forecast.Forecast;
import dev.kvasir.lab.forecast.ForecastStage;
import dev.kvasir.model.ModelConfig;
import java.util.List;

/** Estimates the resources for training CommVQ codebooks. */
public final class CommvqForecast {
  private CommvqForecast() {}

  /**
   * @param tokens tokens of the text
   * @param concurrency each thread trains a head
   */
  public static Forecast of(
      ModelConfig config,
      int bits,
      TextVectors.Settings settings,
      int tokens,
      Concurrency concurrency) {
    config.rotation(); // rejects models without a rotation, which key codebooks need
    CacheShape shape = config.cacheShape();
    int length = settings.length();
    int heads = 2 * shape.layers() * shape.kvHeads();
    int heldOut = TextVectors.heldOut(tokens, length);
    int training = Math.min(settings.tokens(), tokens - heldOut);
    int segments = Math.max(1, tokens / length);
    TrainingSettings how = TrainingSettings.of(CommvqProfile.stages(bits, shape.headDim()));
    long vector = (long) Short.BYTES * shape.headDim();
    long codebook = (long) Float.BYTES * how.stages() * 2 * AdditiveStages.ROWS * shape.headDim();
    long read = Math.min(segments, concurrency.tasks());
    long segmentBytes = heads * vector * length;
    long trained =
        Math.min(heads, concurrency.allThreads())
            * TrainingSpeed.heapBytes(how, shape.headDim(), training);
    return new Forecast(
        List.of(
            new ForecastStage(
                "reading %d segments of %d tokens".formatted(segments, length),
                ComputeKind.READING,
                segments,
                segments * new DecoderFlops(config).forward(length)),
            new ForecastStage(
                "codebooks of %d heads, %d vectors each".formatted(heads, training),
                ComputeKind.TRAINING,
                heads,
                heads * TrainingSpeed.operations(how, shape.headDim(), training))),
        // All codebooks exist three times: in the profile, in its input and in its output.
        Math.max(read * segmentBytes, Math.max(trained, 3 * heads * codebook)),
        read * Float.BYTES * heads * shape.headDim() * length,
        heads * vector * (training + heldOut) + heads * codebook);
  }
}
