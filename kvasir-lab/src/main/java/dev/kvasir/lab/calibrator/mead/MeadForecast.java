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
   * @param checkTokens tokens of each text that tests the profile; 0 for no test
   * @param selfGenerated whether the model generates its prose
   */
  public static Forecast of(
      ModelConfig config,
      MeadSettings settings,
      int checkTokens,
      boolean selfGenerated,
      Concurrency concurrency) {
    TracedDecoder.requireTraceable(config);
    config.requireRotations("calibration of mead");
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
            ComputeKind.READING,
            texts,
            texts * flops.forward(length)));
    stages.add(
        new ForecastStage(
            "gradients of %d texts, forward twice".formatted(followed),
            ComputeKind.READING,
            followed,
            followed * (flops.gradients(length) - flops.backward(length))));
    stages.add(
        new ForecastStage(
            "gradients of %d texts, backward".formatted(followed),
            ComputeKind.BACKWARD,
            followed,
            followed * flops.backward(length)));
    if (settings.hasTokenTables()) {
      addTokenTables(config, settings, flops, stages);
    }
    stages.add(
        new ForecastStage(
            "fitting %d layers".formatted(shape.layers()),
            ComputeKind.FITTING,
            1,
            shape.layers() * fitting(config, settings)));
    if (checkTokens > 0) {
      int passes = MeadCalibrationRun.CHECK_TEXTS * MeadCalibrationRun.CHECKED_CACHES;
      stages.add(
          new ForecastStage(
              "testing the profile, %d texts with %d caches"
                  .formatted(MeadCalibrationRun.CHECK_TEXTS, MeadCalibrationRun.CHECKED_CACHES),
              ComputeKind.READING,
              1,
              passes * flops.forward(Math.min(checkTokens, config.contextLength()))));
    }
    return new Forecast(
        stages,
        heap(config, settings, Math.min(followed, concurrency.tasks()), concurrency),
        selfGenerated ? MeadTexts.generationBytes(shape, settings, concurrency.tasks()) : 0,
        settings.retainedTexts() * vectors(config, settings) + metric(shape));
  }

  private static void addTokenTables(
      ModelConfig config, MeadSettings settings, DecoderFlops flops, List<ForecastStage> stages) {
    stages.add(
        new ForecastStage(
            "computing %d ids without context, for tables".formatted(ids(config, settings)),
            ComputeKind.READING,
            1,
            ids(config, settings) * flops.forward(1)));
    stages.add(
        new ForecastStage(
            "computing %d ids for the first layer".formatted(config.vocabulary()),
            ComputeKind.READING,
            1,
            config.vocabulary() * flops.forward(BLOCK) / BLOCK));
  }

  /** Returns the bytes of a text's keys and values in all layers. */
  private static long vectors(ModelConfig config, MeadSettings settings) {
    return (long) Float.BYTES * config.layers() * width(config) * settings.length();
  }

  /** Returns the elements of a token's keys and values in a layer. */
  private static int width(ModelConfig config) {
    return config.kvHeads() * (config.keyDim() + config.valueDim());
  }

  /**
   * Returns the bytes of arrays in the largest step: gradients, reading texts, or fitting tables.
   *
   * @param followed texts whose gradients are computed at the same time
   */
  private static long heap(
      ModelConfig config, MeadSettings settings, int followed, Concurrency concurrency) {
    long gradients = followed * TracedDecoder.gradientBytes(config, settings.length());
    // Vectors of a text, and as many sums by id for token tables.
    long text = (settings.hasTokenTables() ? 2 : 1) * vectors(config, settings);
    long reading =
        concurrency.tasks() * (TracedDecoder.forwardBytes(config, settings.length()) + text);
    long sums = 4 * metric(config.cacheShape());
    if (!settings.hasTokenTables()) {
      return sums + Math.max(gradients, reading);
    }
    long rows = ids(config, settings);
    long features = config.hidden() + width(config) + 1L;
    long byId = Float.BYTES * rows * config.layers() * width(config);
    long fitted =
        Float.BYTES * rows * (features + (2L + config.layers()) * width(config))
            + 3 * Double.BYTES * features * features;
    return sums + byId + Math.max(Math.max(gradients, reading), fitted);
  }

  private static int ids(ModelConfig config, MeadSettings settings) {
    return Math.min(settings.tableRows(), config.vocabulary());
  }

  /** Returns the operations of fitting a layer's tables and its retained texts. */
  private static double fitting(ModelConfig config, MeadSettings settings) {
    CacheShape shape = config.cacheShape();
    double tokens = (double) settings.retainedTexts() * settings.length();
    double ofHead = 2.0 * shape.valueDim() * shape.valueDim();
    // A covariance for the metric; for each kind of table another one and the components.
    double operations = (1 + 3.0 * settings.tables().size()) * tokens * shape.kvHeads() * ofHead;
    if (settings.hasTokenTables()) {
      double width = width(config);
      double features = config.hidden() + width + 1;
      operations +=
          2 * ids(config, settings) * features * (features + 2 * width)
              + features * features * features / 3;
    }
    return operations;
  }

  /** Returns the bytes of gradient sums in 64-bit floats. */
  private static long metric(CacheShape shape) {
    long ofRank = shape.keyDim() + (long) shape.valueDim() * shape.valueDim();
    return Double.BYTES * HeadProfile.RANK_BUCKETS * ofRank * shape.layers() * shape.kvHeads();
  }
}
