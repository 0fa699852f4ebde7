package dev.kvasir.cli.lab;

import dev.kvasir.cli.arguments.OptionValue;
import dev.kvasir.codec.pmkvq.KeyScaleAxis;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.lab.calibrate.CalibrationTexts;
import dev.kvasir.lab.smooth.FactorSharing;
import dev.kvasir.lab.smooth.KeySmoothing;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Calibration options of pmkvq. */
final class PmkvqArguments {
  static final List<String> OPTIONS =
      List.of(
          "--bits",
          "--keys",
          "--samples",
          "--position-scale",
          "--factors",
          "--smoothing-bits",
          "--json");

  @Option(
      names = "--bits",
      paramLabel = "B",
      description = {
        "pmkvq: code bits of a value in the mean over layers, which have 2, 4 or 8 each, and no",
        "  fewer than --kv says. Default: one more than that."
      })
  private Double meanBits;

  @Option(
      names = "--keys",
      paramLabel = "SCALES",
      defaultValue = "channel",
      description = {
        "pmkvq: what a scale of keys belongs to, as in the cache: channel or token. Default:",
        "  ${DEFAULT-VALUE}."
      })
  private String keyScales;

  @Option(
      names = "--samples",
      paramLabel = "N",
      defaultValue = "" + CalibrationTexts.COUNT,
      description = "pmkvq: samples of the text, --length each. Default: ${DEFAULT-VALUE}.")
  private int samples;

  @Option(
      names = "--position-scale",
      paramLabel = "S",
      defaultValue = "" + KeySmoothing.POSITION_SCALE,
      description = {
        "pmkvq: what positions are multiplied by in the search for smoothing factors, so that keys",
        "  rotate as in a longer text. Default: ${DEFAULT-VALUE}."
      })
  private double positionScale;

  @Option(
      names = "--factors",
      paramLabel = "SHARING",
      defaultValue = "tied",
      description = {
        "pmkvq: smoothing factors of the two channels that rotate together: tied, one for both, or",
        "  own. Default: ${DEFAULT-VALUE}."
      })
  private String factors;

  @Option(
      names = "--smoothing-bits",
      paramLabel = "B",
      defaultValue = "0",
      description = {
        "pmkvq: the width that smoothing is searched at: 2, 4 or 8, as the cache is going to have it.",
        "  Default: the width that each layer was given."
      })
  private int smoothingBits;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "pmkvq: write how sensitive each layer is at each width to a file.")
  private Path json;

  /** Returns the file for sensitivities, if given. */
  Optional<Path> figures() {
    Optional<Path> file = Optional.ofNullable(json);
    file.ifPresent(AtomicFile::checkWritable);
    return file;
  }

  /**
   * @param narrowest minimum bits of a layer
   * @param length tokens of a sample
   */
  PmkvqCalibration.Settings settings(int narrowest, int length, long seed) {
    return new PmkvqCalibration.Settings(
        narrowest,
        meanBits == null ? PmkvqCalibration.Settings.defaultMeanBits(narrowest) : meanBits,
        OptionValue.oneOf("--keys", keyScales, KeyScaleAxis.class),
        samples,
        length,
        positionScale,
        OptionValue.oneOf("--factors", factors, FactorSharing.class),
        smoothingBits,
        seed);
  }
}
