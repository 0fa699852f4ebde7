package dev.kvasir.cli.lab;

import dev.kvasir.Model;
import dev.kvasir.cli.arguments.OptionValue;
import dev.kvasir.cli.terminal.Interruption;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.codec.pmkvq.KeyScaleAxis;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.allocate.AllocationProfile;
import dev.kvasir.lab.allocate.LayerBitAllocation;
import dev.kvasir.lab.allocate.Sensitivities;
import dev.kvasir.lab.allocate.SensitivityJournal;
import dev.kvasir.lab.allocate.SensitivitySettings;
import dev.kvasir.lab.calibrate.CalibrationTexts;
import dev.kvasir.lab.report.AllocationPlot;
import dev.kvasir.lab.smooth.FactorSharing;
import dev.kvasir.lab.smooth.KeySmoothing;
import dev.kvasir.lab.smooth.SmoothingSettings;
import dev.kvasir.lab.work.Runner;
import dev.kvasir.profile.Profile;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** Computes the bits of each layer and the smoothing factors of its keys. */
final class PmkvqCalibration {
  /** Leading tokens that the method never quantizes. */
  private static final int SINKS = 1;

  /**
   * Settings of the calibration.
   *
   * @param narrowest minimum bits of a layer
   * @param meanBits code bits per value, averaged over layers
   * @param keyScales the axis of key scales
   * @param samples of the text
   * @param length tokens of a sample
   * @param smoothingBits width of the codes that smoothing is searched for; 0 for each layer's own
   */
  record Settings(
      int narrowest,
      double meanBits,
      KeyScaleAxis keyScales,
      int samples,
      int length,
      double positionScale,
      FactorSharing sharing,
      int smoothingBits,
      long seed) {
    Settings {
      OptionValue.atLeastOne("--samples", samples);
      SmoothingSettings used = SmoothingSettings.defaults();
      OptionValue.atLeast("--length", length, used.sinks() + used.window() + 1);
      if (!(meanBits >= narrowest && meanBits <= 8)) {
        throw new InvalidInputException(
            "--bits is %s; expected %d to 8".formatted(meanBits, narrowest));
      }
      if (!(positionScale >= 1 && positionScale <= 64)) {
        throw new InvalidInputException(
            "--position-scale is %s; expected 1 to 64".formatted(positionScale));
      }
      if (smoothingBits != 0 && !Sensitivities.WIDTHS.contains(smoothingBits)) {
        throw new InvalidInputException(
            "--smoothing-bits is %d; possible are %s"
                .formatted(smoothingBits, Sensitivities.WIDTHS));
      }
    }

    /** Returns the default mean: one bit more than the narrowest. */
    static double defaultMeanBits(int narrowest) {
      return Math.min(8, narrowest + 1);
    }
  }

  private final Model model;
  private final Settings settings;
  private final CalibrationText text;
  private final Path out;
  private final Consumer<Map<String, Double>> figures;
  private final Streams streams;
  private final Runner runner;
  private final Interruption interruption;

  /**
   * @param figures receives the sensitivities by a name such as {@code layer 3 at 2 bits}
   */
  PmkvqCalibration(
      Model model,
      Settings settings,
      CalibrationText text,
      Path out,
      Consumer<Map<String, Double>> figures,
      Streams streams,
      Runner runner,
      Interruption interruption) {
    this.model = model;
    this.settings = settings;
    this.text = text;
    this.out = out;
    this.figures = figures;
    this.streams = streams;
    this.runner = runner;
    this.interruption = interruption;
  }

  /** Runs the calibration and returns the exit code. */
  int run() {
    CalibrationTexts texts =
        CalibrationTexts.choose(
            model,
            text.name(),
            text.content(),
            settings.samples(),
            settings.length(),
            settings.seed());
    Optional<Profile> made =
        withWidths(profile(), texts).flatMap(profile -> withSmoothing(profile, texts));
    if (made.isEmpty()) {
      streams.note("interrupted; what was finished is in %s and beside it".formatted(out));
      return Interruption.EXIT_CODE;
    }
    return 0;
  }

  /** Adds the allocation. Gradients dominate the cost, so those of the same samples are reused. */
  private Optional<Profile> withWidths(Profile before, CalibrationTexts texts) {
    String source =
        "keys by %s, samples %d, length %d, seed %d, %s"
            .formatted(
                settings.keyScales().name().toLowerCase(Locale.ROOT),
                settings.samples(),
                settings.length(),
                settings.seed(),
                text.fingerprint());
    Optional<Sensitivities> found =
        AllocationProfile.sensitivities(before, source, model.config().layers())
            .or(() -> measure(texts, source));
    return found.map(
        sensitivities -> {
          LayerBitAllocation allocation =
              LayerBitAllocation.within(
                  sensitivities.atLeast(settings.narrowest()), settings.meanBits());
          print(sensitivities, allocation);
          figures.accept(named(sensitivities));
          AllocationProfile part = new AllocationProfile(source, sensitivities, allocation.bits());
          Profile made = write(part.addTo(profile()));
          journal(source).delete();
          AllocationPlot.of(sensitivities, allocation.bits()).write(sibling(".svg"));
          return made;
        });
  }

  private Optional<Sensitivities> measure(CalibrationTexts texts, String source) {
    SensitivityJournal journal = journal(source);
    try (ProgressReporter progress = new ProgressReporter(streams, "gradients", interruption)) {
      return Sensitivities.measure(
          runner,
          texts,
          new SensitivitySettings(Sensitivities.WIDTHS, SINKS, settings.keyScales()),
          journal.known(),
          journal::add,
          progress);
    }
  }

  private SensitivityJournal journal(String source) {
    return new SensitivityJournal(
        sibling(".texts"),
        model.fingerprint(),
        source,
        model.config().layers(),
        settings.samples());
  }

  /** Reads the current profile; other parts may have been added meanwhile. */
  private Profile profile() {
    return Profile.openOrEmpty(out, model.fingerprint(), model.name());
  }

  private Path sibling(String ending) {
    return out.resolveSibling(out.getFileName() + ending);
  }

  private Optional<Profile> withSmoothing(Profile before, CalibrationTexts texts) {
    int layers = model.config().layers();
    List<Integer> widths =
        settings.smoothingBits() == 0
            ? AllocationProfile.widths(before, layers)
            : Collections.nCopies(layers, settings.smoothingBits());
    SmoothingSettings search = SmoothingSettings.defaults().withSharing(settings.sharing());
    Optional<KeySmoothing> found;
    try (ProgressReporter progress = new ProgressReporter(streams, "smoothing", interruption)) {
      found =
          KeySmoothing.search(
              runner, model.config(), texts, settings.positionScale(), widths, search, progress);
    }
    return found.map(
        smoothing -> {
          print(smoothing);
          return write(smoothing.addTo(profile()));
        });
  }

  private Profile write(Profile profile) {
    profile.write(out);
    return profile;
  }

  private static Map<String, Double> named(Sensitivities found) {
    Map<String, Double> named = new LinkedHashMap<>();
    for (int layer = 0; layer < found.layers(); layer++) {
      for (int bits : found.widths()) {
        named.put("layer %d at %d bits".formatted(layer, bits), found.of(layer, bits));
      }
    }
    return named;
  }

  private void print(Sensitivities found, LayerBitAllocation allocation) {
    line("layer    2 bits    4 bits    8 bits  width");
    for (int layer = 0; layer < found.layers(); layer++) {
      line(
          "%5d %9.4f %9.4f %9.4f %6d",
          layer,
          found.of(layer, 2),
          found.of(layer, 4),
          found.of(layer, 8),
          allocation.bits().get(layer));
    }
    line(
        "%.2f bits in the mean, sensitivity %.4f", allocation.meanBits(), allocation.sensitivity());
    streams.out().flush();
  }

  private void print(KeySmoothing smoothing) {
    line("layer  strength  attention error: plain  smoothed");
    for (int layer = 0; layer < smoothing.layers().size(); layer++) {
      KeySmoothing.LayerResult trial = smoothing.layers().get(layer);
      line("%5d %9.2f %23.4f %9.4f", layer, trial.strength(), trial.plainError(), trial.error());
    }
    streams.out().flush();
  }

  private void line(String format, Object... values) {
    streams.out().println(String.format(Locale.ROOT, format, values));
  }
}
