package dev.kvasir.lab.reproduce;

import dev.kvasir.codec.pmkvq.KeyScaleAxis;
import dev.kvasir.lab.allocate.Sensitivities;
import dev.kvasir.lab.allocate.SensitivitySettings;
import dev.kvasir.lab.calibrate.CalibrationTexts;
import dev.kvasir.lab.reproduce.Figures.Line;
import dev.kvasir.lab.smooth.KeySmoothing;
import dev.kvasir.lab.smooth.SmoothingSettings;
import dev.kvasir.lab.text.BundledText;
import dev.kvasir.lab.work.LocalRunner;
import dev.kvasir.lab.work.Runner;
import dev.kvasir.lab.work.WorkerContext;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** The analyses of PM-KVQ's paper. */
final class PmkvqAnalyses {
  private static final int SHORT = 2048;
  private static final int LONG = 8192;
  private static final int QUICK_LENGTH = 144;
  private static final int SAMPLES = 8;
  private static final int BITS = 2;
  private static final double MINUTE = 60e9;

  /** A row of Table 4: tokens of a sample and the factor of positions. */
  private record Reach(int length, double scale) {}

  private static final List<Reach> REACHES =
      List.of(new Reach(SHORT, 1), new Reach(SHORT, 4), new Reach(SHORT, 16), new Reach(LONG, 1));

  private PmkvqAnalyses() {}

  /** Figures 3 and 4: sensitivity of layers. */
  static Optional<Figures> sensitivities(Conditions conditions) {
    return measure(conditions)
        .map(
            found ->
                new Figures(
                    Sensitivities.WIDTHS.stream().map(bits -> bits + " bits").toList(),
                    IntStream.range(0, found.layers())
                        .mapToObj(
                            layer ->
                                Line.of(
                                    "layer " + layer,
                                    Sensitivities.WIDTHS.stream()
                                        .mapToDouble(bits -> found.of(layer, bits))
                                        .toArray()))
                        .toList(),
                    List.of("cells are the sums of Eq. 5 over keys and values")));
  }

  private static Optional<Sensitivities> measure(Conditions conditions) {
    return Sensitivities.measure(
        runner(conditions),
        texts(conditions, SHORT),
        new SensitivitySettings(Sensitivities.WIDTHS, 1, KeyScaleAxis.TOKEN),
        conditions.listener());
  }

  /** Table 4: effect of the calibration's length and position scale on attention. */
  static Optional<Figures> reach(Conditions conditions) {
    List<Line> lines = new ArrayList<>();
    for (Reach reach : REACHES) {
      Optional<KeySmoothing> found = smooth(conditions, reach.length(), reach.scale());
      if (found.isEmpty()) {
        return Optional.empty();
      }
      double smoothed = mean(found.get(), true);
      double plain = mean(found.get(), false);
      lines.add(
          Line.of(
              "%d x %.0f".formatted(reach.length(), reach.scale()),
              reach.length() * reach.scale(),
              plain,
              smoothed));
    }
    return Optional.of(
        new Figures(
            List.of("Effective Length", "error, plain", "error, smoothed"),
            lines,
            List.of(
                "errors of attention at 2 bits on the calibration text; for the paper's pass@1,"
                    + " calibrate with --length and --position-scale and run table3 with"
                    + " --profile")));
  }

  private static double mean(KeySmoothing found, boolean smoothed) {
    return found.layers().stream()
        .mapToDouble(layer -> smoothed ? layer.error() : layer.plainError())
        .average()
        .orElse(Double.NaN);
  }

  /** Table 6: time of the calibration. */
  static Optional<Figures> times(Conditions conditions) {
    long start = System.nanoTime();
    boolean complete = smooth(conditions, LONG, 1).isPresent();
    long plain = System.nanoTime();
    complete = complete && smooth(conditions, SHORT, KeySmoothing.POSITION_SCALE).isPresent();
    long interpolated = System.nanoTime();
    complete = complete && measure(conditions).isPresent();
    long allocated = System.nanoTime();
    if (!complete) {
      return Optional.empty();
    }
    return Optional.of(
        new Figures(
            List.of("Time (min)"),
            List.of(
                Line.of("QServe (search)", (plain - start) / MINUTE),
                Line.of("PM-KVQ, uniform", (interpolated - plain) / MINUTE),
                Line.of("PM-KVQ, mixed", (allocated - plain) / MINUTE)),
            List.of(
                "%d samples; the paper takes 512 on a GPU"
                    .formatted(conditions.request().samples(SAMPLES, 1)))));
  }

  private static Optional<KeySmoothing> smooth(Conditions conditions, int length, double scale) {
    int layers = conditions.model().config().layers();
    return KeySmoothing.search(
        runner(conditions),
        conditions.model().config(),
        texts(conditions, length),
        scale,
        Collections.nCopies(layers, BITS),
        SmoothingSettings.defaults(),
        conditions.listener());
  }

  private static Runner runner(Conditions conditions) {
    return new LocalRunner(WorkerContext.of(conditions.model()));
  }

  private static CalibrationTexts texts(Conditions conditions, int length) {
    int count = conditions.request().samples(SAMPLES, 1);
    int tokens = conditions.context(length, QUICK_LENGTH);
    return CalibrationTexts.choose(
        conditions.model(),
        BundledText.BOOK_NAME,
        Novel.start(2 * count * tokens),
        count,
        tokens,
        conditions.request().seed());
  }
}
