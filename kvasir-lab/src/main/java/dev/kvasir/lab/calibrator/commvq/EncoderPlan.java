package dev.kvasir.lab.calibrator.commvq;

import dev.kvasir.codec.CacheShape;
import dev.kvasir.lab.calibrator.CalibrationContext;
import dev.kvasir.lab.calibrator.CalibrationPlan;
import dev.kvasir.lab.calibrator.CalibrationText;
import dev.kvasir.lab.codebook.CodebookPlan;
import dev.kvasir.lab.codebook.TextVectors;
import dev.kvasir.lab.codebook.encoder.EncoderSettings;
import dev.kvasir.lab.codebook.encoder.EncoderWork;
import dev.kvasir.lab.forecast.ComputeKind;
import dev.kvasir.lab.forecast.Concurrency;
import dev.kvasir.lab.forecast.Forecast;
import dev.kvasir.lab.forecast.ForecastStage;
import dev.kvasir.model.ModelConfig;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToIntFunction;

/** Trains codebooks of keys and encoders of values. */
record EncoderPlan(
    int bits, EncoderOptions options, TextVectors.Settings settings, CalibrationText text)
    implements CalibrationPlan {
  /** The forecast of codebooks, which counts those of values too, and the work of encoders. */
  @Override
  public Forecast forecast(
      ModelConfig config, ToIntFunction<String> tokens, Concurrency concurrency) {
    CacheShape shape = config.cacheShape();
    EncoderSettings encoders = options.settings(shape, bits);
    int width = shape.kvHeads() * shape.valueDim();
    Forecast codebooks =
        CommvqForecast.of(
            config,
            CodebookPlan.of(shape, bits),
            settings,
            tokens.applyAsInt(text.content()),
            concurrency);
    List<ForecastStage> stages = new ArrayList<>(codebooks.stages());
    stages.add(
        new ForecastStage(
            "encoders of %d layers, %d steps each".formatted(shape.layers(), encoders.steps()),
            ComputeKind.TRAINING,
            shape.layers(),
            shape.layers() * EncoderWork.operations(encoders, width)));
    long trained =
        Math.min(shape.layers(), concurrency.allThreads())
            * EncoderWork.heapBytes(encoders, width, settings.tokens());
    return new Forecast(
        stages,
        Math.max(codebooks.arrayBytes(), trained),
        codebooks.offHeapBytes(),
        codebooks.diskBytes());
  }

  @Override
  public List<Path> resumeFiles(Path out) {
    return EncoderCalibration.resumeFiles(out, bits);
  }

  @Override
  public boolean run(CalibrationContext context) {
    return new EncoderCalibration(bits, options, settings, text, context).run();
  }
}
