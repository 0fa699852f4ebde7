package dev.kvasir.cli.lab;

import dev.kvasir.lab.mead.MeadSettings;
import java.util.List;
import picocli.CommandLine.Option;

/** Calibration options of mead. */
final class MeadArguments {
  static final List<String> OPTIONS =
      List.of("--texts", "--tasks", "--metric-texts", "--rows", "--tables");

  @Option(
      names = "--texts",
      paramLabel = "N",
      defaultValue = "96",
      description = {
        "mead: texts of prose to read, --length each: of --text, or made up by the model; with 0 it",
        "  learns from questions alone. Default: ${DEFAULT-VALUE}."
      })
  private int texts;

  @Option(
      names = "--tasks",
      paramLabel = "N",
      defaultValue = "48",
      description = {
        "mead: texts with questions to read; with 0 it learns from prose alone. Default:",
        "  ${DEFAULT-VALUE}."
      })
  private int tasks;

  @Option(
      names = "--metric-texts",
      paramLabel = "N",
      defaultValue = "12",
      description = {
        "mead: texts of each kind in which the loss is followed back. Default: ${DEFAULT-VALUE}."
      })
  private int metricTexts;

  @Option(
      names = "--rows",
      paramLabel = "N",
      defaultValue = "8192",
      description = {
        "mead: tokens that have a row of their own in tables, those that are met most often. Default:",
        "  ${DEFAULT-VALUE}."
      })
  private int rows;

  @Option(
      names = "--tables",
      paramLabel = "KINDS",
      split = ",",
      defaultValue = "tokens,centroids,off",
      description = {
        "mead: what may be taken off vectors, as tables= of the spec has it: tokens, a row for each",
        "  id, and the first layer's; centroids, 256 rows a head; off, the mean. Default:",
        "  ${DEFAULT-VALUE}."
      })
  private List<String> tables;

  /**
   * @param length tokens of a text
   */
  MeadSettings settings(int length, long seed) {
    return MeadCalibrator.validated(
        new MeadSettings(
            length, texts, tasks, metricTexts, rows, MeadCalibrator.kinds(tables), seed));
  }
}
