package dev.kvasir.lab.calibrator.mead;

import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.mead.HeadProfile;
import dev.kvasir.lab.forecast.ComputeKind;
import dev.kvasir.lab.forecast.Concurrency;
import dev.kvasir.lab.forecast.DecoderFlops;
import dev.kvasir.lab.forecast.Forecast;
import dev.kvasir.lab.forecast.ForecastStage;
import dev.kvasir.lab.gradient.TracedDecoder;
import dev.kvasir.lab.mead.MeadSettings;
import dev.kvasir.lab.mead.MeadTexts;
import dev.kvasir.model.ModelConfig;
import java.util.ArrayList;
import java.util.List;

/** Estimates the resources for a Mead calibration. */
public final class MeadForecast {
  /** Ids that the engine processes in a step. */
  private static final int BLOCK = KvCache.TOKENS_PER_PAGE;

  private MeadForecast() {}

  /**
   * @param selfGenerated whether the model generates its prose
   */
  public static Forecast of(
      ModelConfig config, MeadSettings settings, boolean selfGenerated, Concurrency concurrency) {
    config.requirePlain("calibration");
    DecoderFlops flops = new DecoderFlops(config);
    CacheShape shape = config.cacheShape();
    int length = settings.length();
    int texts = settings.proseTexts() + settings.taskTexts();
    int made = selfGenerated ? MeadTexts.generatedTexts(settings) : 0;
    int kinds = (settings.proseTexts() > 0 ? 1 : 0) + (settings.taskTexts() > 0 ? 1 : 0);
    int followed = settings.metricTexts() * kinds;
    List<ForecastStage> stages = new ArrayList<>();
    if (selfGenerated) {
      stages.add(
          new ForecastStage(
              "generating %d texts of %d tokens".formatted(made, length),
              ComputeKind.READING,
              made,
              made * (flops.forward(length) + flops.logits(length))));
    }
    stages.add(
        new ForecastStage(
            "reading %d texts".formatted(texts),
            ComputeKind.TRACING,
            texts,
            texts * flops.forward(length)));
    stages.add(
        new ForecastStage(
            "gradients of %d texts".formatted(followed),
            ComputeKind.TRACING,
            followed,
            followed * flops.gradients(length)));
    stages.add(
        new ForecastStage(
            "computing %d ids without context, for tables".formatted(ids(config, settings)),
            ComputeKind.TRACING,
            1,
            ids(config, settings) * flops.forward(1)));
    stages.add(
        new ForecastStage(
            "computing %d ids for the first layer".formatted(config.vocabulary()),
            ComputeKind.READING,
            1,
            config.vocabulary() * flops.forward(BLOCK) / BLOCK));
    stages.add(
        new ForecastStage(
            "fitting %d layers".formatted(shape.layers()),
            ComputeKind.FITTING,
            1,
            shape.layers() * fitting(config, settings)));
    int width = shape.kvHeads() * (shape.keyDim() + shape.valueDim());
    long sums = (long) Float.BYTES * shape.layers() * config.vocabulary() * width;
    long metric = metric(shape);
    long features = config.hidden() + width + 1L;
    long fitted =
        (long) Float.BYTES * ids(config, settings) * (features + (2L + shape.layers()) * width)
            + 3 * Double.BYTES * features * features;
    long gradients =
        Math.min(followed, concurrency.tasks()) * TracedDecoder.gradientBytes(config, length);
    return new Forecast(
        stages,
        sums + 4 * metric + Math.max(gradients, fitted),
        selfGenerated ? MeadTexts.generationBytes(shape, settings, concurrency.tasks()) : 0,
        (long) Float.BYTES * shape.layers() * width * length * settings.retainedTexts() + metric);
  }

  private static int ids(ModelConfig config, MeadSettings settings) {
    return Math.min(settings.tableRows(), config.vocabulary());
  }

  /** Returns the operations of a layer's table regression and of fitting its retained texts. */
  private static double fitting(ModelConfig config, MeadSettings settings) {
    CacheShape shape = config.cacheShape();
    double width = shape.kvHeads() * (shape.keyDim() + shape.valueDim());
    double features = config.hidden() + width + 1;
    double ids = ids(config, settings);
    double regression =
        2 * ids * features * (features + 2 * width) + features * features * features / 3;
    double tokens = (double) settings.retainedTexts() * settings.length();
    double ofHead = 2.0 * shape.valueDim() * shape.valueDim();
    // Three covariances (raw, after tables, after means) and the components of two of them.
    return regression + 5 * tokens * shape.kvHeads() * ofHead;
  }

  /** Returns the bytes of gradient sums in 64-bit floats. */
  private static long metric(CacheShape shape) {
    long ofRank = shape.keyDim() + (long) shape.valueDim() * shape.valueDim();
    return Double.BYTES * HeadProfile.RANK_BUCKETS * ofRank * shape.layers() * shape.kvHeads();
  }
}
