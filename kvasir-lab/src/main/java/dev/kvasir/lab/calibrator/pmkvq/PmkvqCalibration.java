package dev.kvasir.lab.calibrator.pmkvq;

import dev.kvasir.codec.LayerSensitivities.KeyScales;
import dev.kvasir.codec.pmkvq.KeyScaleAxis;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.allocate.AllocationProfile;
import dev.kvasir.lab.allocate.LayerBitAllocation;
import dev.kvasir.lab.allocate.Sensitivities;
import dev.kvasir.lab.allocate.SensitivityJournal;
import dev.kvasir.lab.allocate.SensitivitySettings;
import dev.kvasir.lab.calibrate.CalibrationTexts;
import dev.kvasir.lab.calibrator.CalibrationContext;
import dev.kvasir.lab.calibrator.CalibrationText;
import dev.kvasir.lab.report.AllocationPlot;
import dev.kvasir.lab.smooth.FactorSharing;
import dev.kvasir.lab.smooth.KeySmoothing;
import dev.kvasir.lab.smooth.SmoothingSettings;
import dev.kvasir.profile.Profile;
import dev.kvasir.runtime.LoadedModel;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BiConsumer;

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

  private final Settings settings;
  private final CalibrationText text;
  private final CalibrationContext context;
  private final LoadedModel model;
  private final BiConsumer<Sensitivities, List<Sensitivities>> figures;
  private final SortedMap<Integer, Sensitivities> bySample = new TreeMap<>();

  /**
   * @param figures receives the sensitivities of all layers, and those of each sample unless they
   *     were in the profile
   */
  PmkvqCalibration(
      Settings settings,
      CalibrationText text,
      CalibrationContext context,
      BiConsumer<Sensitivities, List<Sensitivities>> figures) {
    this.settings = settings;
    this.text = text;
    this.context = context;
    this.model = context.model();
    this.figures = figures;
  }

  /** Returns false if interrupted. */
  boolean run() {
    CalibrationTexts texts =
        CalibrationTexts.choose(
            model,
            text.name(),
            text.content(),
            settings.samples(),
            settings.length(),
            settings.seed());
    Optional<Profile> made =
        withWidths(context.profile(), texts).flatMap(profile -> withSmoothing(profile, texts));
    if (made.isEmpty()) {
      context
          .console()
          .note("interrupted; what was finished is in %s and beside it".formatted(context.out()));
      return false;
    }
    return true;
  }

  /** Adds the allocation. Gradients dominate the cost, so those of the same samples are reused. */
  private Optional<Profile> withWidths(Profile before, CalibrationTexts texts) {
    KeyScales scales = settings.keyScales().sensitivities();
    String source =
        "%s, samples %d, length %d, seed %d, %s"
            .formatted(
                scales.note(),
                settings.samples(),
                settings.length(),
                settings.seed(),
                text.fingerprint());
    Optional<Sensitivities> found =
        AllocationProfile.sensitivities(before, scales, source, model.config().layers())
            .or(() -> measure(texts, source));
    return found.map(
        sensitivities -> {
          LayerBitAllocation allocation =
              LayerBitAllocation.within(
                  sensitivities.atLeast(settings.narrowest()), settings.meanBits());
          print(sensitivities, allocation);
          figures.accept(sensitivities, List.copyOf(bySample.values()));
          AllocationProfile part =
              new AllocationProfile(scales, source, sensitivities, allocation.bits());
          Profile made = write(part.addTo(context.profile()));
          journal(source).delete();
          AllocationPlot.of(sensitivities, allocation.bits()).write(context.sibling(".svg"));
          return made;
        });
  }

  private Optional<Sensitivities> measure(CalibrationTexts texts, String source) {
    SensitivityJournal journal = journal(source);
    bySample.putAll(journal.known());
    return Sensitivities.measure(
        context.runner(),
        texts,
        new SensitivitySettings(Sensitivities.WIDTHS, SINKS, settings.keyScales()),
        journal.known(),
        (number, sample) -> {
          bySample.put(number, sample);
          journal.add(number, sample);
        },
        context.console().beginPhase("gradients"));
  }

  private SensitivityJournal journal(String source) {
    return new SensitivityJournal(
        context.sibling(".texts"),
        model.fingerprint(),
        source,
        model.config().layers(),
        settings.samples());
  }

  private Optional<Profile> withSmoothing(Profile before, CalibrationTexts texts) {
    int layers = model.config().layers();
    List<Integer> widths =
        settings.smoothingBits() == 0
            ? AllocationProfile.widths(before, layers)
            : Collections.nCopies(layers, settings.smoothingBits());
    SmoothingSettings search = SmoothingSettings.defaults().withSharing(settings.sharing());
    Optional<KeySmoothing> found =
        KeySmoothing.search(
            context.runner(),
            model.config(),
            texts,
            settings.positionScale(),
            widths,
            search,
            context.console().beginPhase("smoothing"));
    return found.map(
        smoothing -> {
          print(smoothing);
          return write(smoothing.addTo(context.profile()));
        });
  }

  private Profile write(Profile profile) {
    profile.write(context.out());
    return profile;
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
    context.console().out().flush();
  }

  private void print(KeySmoothing smoothing) {
    line("layer  strength  attention error: plain  smoothed");
    for (int layer = 0; layer < smoothing.layers().size(); layer++) {
      KeySmoothing.LayerResult trial = smoothing.layers().get(layer);
      line("%5d %9.2f %23.4f %9.4f", layer, trial.strength(), trial.plainError(), trial.error());
    }
    context.console().out().flush();
  }

  private void line(String format, Object... values) {
    context.console().out().println(String.format(Locale.ROOT, format, values));
  }
}
