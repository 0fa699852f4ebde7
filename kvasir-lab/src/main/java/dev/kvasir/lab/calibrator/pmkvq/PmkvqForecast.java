package dev.kvasir.lab.calibrator.pmkvq;

import dev.kvasir.lab.forecast.ComputeKind;
import dev.kvasir.lab.forecast.Concurrency;
import dev.kvasir.lab.forecast.DecoderFlops;
import dev.kvasir.lab.forecast.Forecast;
import dev.kvasir.lab.forecast.ForecastStage;
import dev.kvasir.lab.gradient.TracedDecoder;
import dev.kvasir.lab.smooth.KeySmoothing;
import dev.kvasir.lab.smooth.SmoothingSettings;
import dev.kvasir.model.ModelConfig;
import java.util.List;

/** Estimates the resources for PM-KVQ's layer widths and key smoothing. */
public final class PmkvqForecast {
  private PmkvqForecast() {}

  /**
   * @param samples samples of the text, each of {@code length} tokens
   */
  public static Forecast of(ModelConfig config, int samples, int length, Concurrency concurrency) {
    config.requirePlain("calibration");
    DecoderFlops flops = new DecoderFlops(config);
    int queries = Math.min(length, SmoothingSettings.defaults().queries());
    double queryValues = (double) config.queryHeads() * config.headDim();
    // Scores and sums of some queries over half of the keys, for each strength and for none.
    double trials =
        (2.0 + KeySmoothing.STRENGTHS) * config.layers() * 2 * queryValues * queries * length;
    long probe = (long) Float.BYTES * config.queryHeads() * queries * length;
    return new Forecast(
        List.of(
            new ForecastStage(
                "gradients of %d samples of %d tokens".formatted(samples, length),
                ComputeKind.TRACING,
                samples,
                samples * flops.gradients(length)),
            new ForecastStage(
                "key magnitudes of %d samples".formatted(samples),
                ComputeKind.TRACING,
                samples,
                samples * flops.forward(length)),
            new ForecastStage(
                "trials of factors in %d samples".formatted(samples),
                ComputeKind.TRACING,
                samples,
                samples * (flops.forward(length) + trials))),
        Math.min(samples, concurrency.tasks())
            * (TracedDecoder.gradientBytes(config, length) + probe),
        0,
        0);
  }
}
