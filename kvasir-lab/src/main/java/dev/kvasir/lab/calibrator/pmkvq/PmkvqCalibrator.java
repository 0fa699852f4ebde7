package dev.kvasir.lab.calibrator.pmkvq;

import dev.kvasir.codec.pmkvq.KeyScaleAxis;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.lab.allocate.Sensitivities;
import dev.kvasir.lab.calibrate.CalibrationTexts;
import dev.kvasir.lab.calibrator.CalibrationContext;
import dev.kvasir.lab.calibrator.CalibrationPlan;
import dev.kvasir.lab.calibrator.CalibrationRequest;
import dev.kvasir.lab.calibrator.CalibrationText;
import dev.kvasir.lab.calibrator.Calibrator;
import dev.kvasir.lab.calibrator.CalibratorOption;
import dev.kvasir.lab.eval.Estimate;
import dev.kvasir.lab.forecast.ComputeKind;
import dev.kvasir.lab.forecast.Concurrency;
import dev.kvasir.lab.forecast.DecoderFlops;
import dev.kvasir.lab.forecast.Forecast;
import dev.kvasir.lab.forecast.ForecastStage;
import dev.kvasir.lab.gradient.TracedDecoder;
import dev.kvasir.lab.report.MeasurementsFile;
import dev.kvasir.lab.smooth.FactorSharing;
import dev.kvasir.lab.smooth.KeySmoothing;
import dev.kvasir.lab.smooth.SmoothingSettings;
import dev.kvasir.model.ModelConfig;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToIntFunction;

/** Finds the bits of each layer and the smoothing factors of its keys. */
public final class PmkvqCalibrator implements Calibrator {
  private static final CalibratorOption<Double> BITS =
      CalibratorOption.withoutDefault(
          "--bits",
          "B",
          Double.class,
          "pmkvq: mean code bits over layers, which have 2, 4 or 8 each, at least those of --kv."
              + " Default: one more than that.");

  private static final CalibratorOption<String> KEYS =
      CalibratorOption.of(
          "--keys",
          "SCALES",
          String.class,
          "channel",
          "pmkvq: scales of keys, as in the cache: per channel or per token. Default:"
              + " ${DEFAULT-VALUE}.");

  private static final CalibratorOption<Integer> SAMPLES =
      CalibratorOption.of(
          "--samples",
          "N",
          Integer.class,
          CalibrationTexts.COUNT,
          "pmkvq: number of samples of the text, --length tokens each. Default: ${DEFAULT-VALUE}.");

  private static final CalibratorOption<Double> POSITION_SCALE =
      CalibratorOption.of(
          "--position-scale",
          "S",
          Double.class,
          KeySmoothing.POSITION_SCALE,
          "pmkvq: factor on positions in the search of smoothing factors, so that keys rotate as in"
              + " a longer text. Default: ${DEFAULT-VALUE}.");

  private static final CalibratorOption<String> FACTORS =
      CalibratorOption.of(
          "--factors",
          "SHARING",
          String.class,
          "own",
          "pmkvq: smoothing factors of two channels that rotate together: own, one for each, or"
              + " tied. Default: ${DEFAULT-VALUE}.");

  private static final CalibratorOption<Integer> SMOOTHING_BITS =
      CalibratorOption.of(
          "--smoothing-bits",
          "B",
          Integer.class,
          0,
          "pmkvq: bits for the search of smoothing factors: 2, 4 or 8. Default: those of each"
              + " layer.");

  private static final CalibratorOption<Path> JSON =
      CalibratorOption.withoutDefault(
          "--json",
          "FILE",
          Path.class,
          "pmkvq: write the sensitivity of each layer at each width to a JSON file.");

  @Override
  public String method() {
    return "pmkvq";
  }

  @Override
  public String description() {
    return "allocates bits to layers by the gradients of keys and values, and searches smoothing"
        + " factors of keys.";
  }

  @Override
  public List<CalibratorOption<?>> options() {
    return List.of(BITS, KEYS, SAMPLES, POSITION_SCALE, FACTORS, SMOOTHING_BITS, JSON);
  }

  @Override
  public boolean isDistributed() {
    return true;
  }

  @Override
  public CalibrationPlan plan(CalibrationRequest request) {
    SmoothingSettings used = SmoothingSettings.defaults();
    KeyScaleAxis keyScales = request.oneOf(KeyScaleAxis.class, KEYS);
    FactorSharing sharing = request.oneOf(FactorSharing.class, FACTORS);
    PmkvqCalibration.Settings settings =
        new PmkvqCalibration.Settings(
            request.bits(),
            request.find(BITS).orElse(PmkvqCalibration.Settings.defaultMeanBits(request.bits())),
            keyScales,
            request.atLeast(1, SAMPLES),
            request.lengthOfAtLeast(used.sinks() + used.window() + 1),
            request.value(POSITION_SCALE),
            sharing,
            request.value(SMOOTHING_BITS),
            request.seed());
    request.find(JSON).ifPresent(AtomicFile::checkWritable);
    return new Plan(settings, request);
  }

  private record Plan(PmkvqCalibration.Settings settings, CalibrationRequest request)
      implements CalibrationPlan {
    @Override
    public Forecast forecast(
        ModelConfig config, ToIntFunction<String> tokens, Concurrency concurrency) {
      return PmkvqForecast.of(config, settings.samples(), settings.length(), concurrency);
    }

    @Override
    public boolean run(CalibrationContext context) {
      CalibrationText text = request.text().orElseGet(CalibrationText::prose);
      return new PmkvqCalibration(settings, text, context, this::writeFigures).run();
    }

    private void writeFigures(Sensitivities found, List<Sensitivities> samples) {
      Optional<Path> file = request.find(JSON);
      file.ifPresent(
          json -> MeasurementsFile.write(json, named(found, samples), request.provenance().get()));
    }

    /** Returns numbers by a name such as {@code layer 3 at 2 bits}, with intervals of samples. */
    private static Map<String, Double> named(Sensitivities found, List<Sensitivities> samples) {
      Map<String, Double> named = new LinkedHashMap<>();
      for (int layer = 0; layer < found.layers(); layer++) {
        for (int bits : found.widths()) {
          String name = "layer %d at %d bits".formatted(layer, bits);
          int at = layer;
          Estimate estimate =
              samples.isEmpty()
                  ? new Estimate(found.of(layer, bits), Double.NaN, Double.NaN)
                  : Estimate.ofMean(samples.stream().map(one -> one.of(at, bits)).toList());
          MeasurementsFile.put(named, name, estimate);
        }
      }
      return named;
    }
  }

  /** Estimates the resources for PM-KVQ's layer widths and key smoothing. */
  public static final class PmkvqForecast {
    private PmkvqForecast() {}

    /**
     * @param samples samples of the text, each of {@code length} tokens
     */
    public static Forecast of(
        ModelConfig config, int samples, int length, Concurrency concurrency) {
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
}
