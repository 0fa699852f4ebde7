package dev.kvasir.lab.calibrator.commvq;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.commvq.AdditiveStages;
import dev.kvasir.lab.codebook.CodebookPlan;
import dev.kvasir.lab.codebook.TextVectors;
import dev.kvasir.lab.codebook.TrainingSpeed;
import dev.kvasir.lab.codebook.VectorSample.Side;
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
   * @param concurrency each thread trains a codebook
   */
  public static Forecast of(
      ModelConfig config,
      CodebookPlan plan,
      TextVectors.Settings settings,
      int tokens,
      Concurrency concurrency) {
    config.requireRotations("training codebooks");
    CacheShape shape = config.cacheShape();
    int length = settings.length();
    int heads = 2 * shape.layers() * shape.kvHeads();
    int heldOut = TextVectors.heldOut(tokens, length);
    int training = Math.min(settings.tokens(), tokens - heldOut);
    int segments = Math.max(1, tokens / length);
    long vector = (long) Short.BYTES * shape.headDim();
    int books = 0;
    long codebookBytes = 0;
    double operations = 0;
    long heapBytes = 0; // of the largest training
    for (Side side : Side.values()) {
      int ofSide = shape.layers() * plan.booksOfLayer(shape, side);
      int channels = plan.trainedChannels(shape, side);
      int parts = plan.stages(shape, side) / plan.settings(side).stages();
      books += ofSide;
      codebookBytes += ofSide * codebookBytes(plan, shape, side);
      operations +=
          (double) ofSide
              * parts
              * TrainingSpeed.operations(plan.settings(side), channels, training);
      heapBytes =
          Math.max(heapBytes, TrainingSpeed.heapBytes(plan.settings(side), channels, training));
    }
    long read = Math.min(segments, concurrency.tasks());
    long segmentBytes = heads * vector * length;
    long trained = Math.min(books, concurrency.allThreads()) * heapBytes;
    return new Forecast(
        List.of(
            new ForecastStage(
                "reading %d segments of %d tokens".formatted(segments, length),
                ComputeKind.READING,
                segments,
                segments * new DecoderFlops(config).forward(length)),
            new ForecastStage(
                "codebooks of %d heads and groups, %d vectors each".formatted(books, training),
                ComputeKind.TRAINING,
                books,
                operations)),
        // All codebooks exist three times: in the profile, in its input and in its output.
        Math.max(read * segmentBytes, Math.max(trained, 3 * codebookBytes)),
        read * Float.BYTES * heads * shape.headDim() * length,
        heads * vector * (training + heldOut) + codebookBytes);
  }

  private static long codebookBytes(CodebookPlan plan, CacheShape shape, Side side) {
    return (long) Float.BYTES
        * plan.stages(shape, side)
        * 2
        * AdditiveStages.ROWS
        * plan.channels(shape, side);
  }
}
