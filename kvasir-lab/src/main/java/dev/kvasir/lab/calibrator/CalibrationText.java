package dev.kvasir.lab.calibrator;

import dev.kvasir.lab.task.TaskText;
import dev.kvasir.lab.text.BundledText;

/**
 * The text of a calibration.
 *
 * @param name for messages
 */
public record CalibrationText(String name, String content) {
  /** A fifth of the text, next to the bundled prose. */
  private static final int TASK_ROUNDS = 8;

  public static CalibrationText prose() {
    return new CalibrationText("the bundled prose", BundledText.filler());
  }

  /** Returns prose and tasks, because codebooks only fit what they were trained on. */
  public static CalibrationText proseAndTasks() {
    return new CalibrationText(
        "the bundled prose and tasks", BundledText.filler() + "\n\n" + TaskText.of(1, TASK_ROUNDS));
  }

  /** Identifies the text for resuming an interrupted calibration. */
  public String fingerprint() {
    return "text %08x".formatted(content.hashCode());
  }
}
