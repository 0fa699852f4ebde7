package dev.kvasir.cli.lab;

import dev.kvasir.lab.task.TaskText;
import dev.kvasir.lab.text.BundledText;

/**
 * What a calibration reads.
 *
 * @param name what messages call it
 */
record CalibrationText(String name, String content) {
  /** A fifth of what is read, with the bundled prose. */
  private static final int TASK_ROUNDS = 8;

  static CalibrationText prose() {
    return new CalibrationText("the bundled prose", BundledText.filler());
  }

  /** Codebooks fit what they have seen, so they see more than prose. */
  static CalibrationText proseAndTasks() {
    return new CalibrationText(
        "the bundled prose and tasks", BundledText.filler() + "\n\n" + TaskText.of(1, TASK_ROUNDS));
  }

  /** Tells it from other texts, for what is kept of a calibration that was broken off. */
  String fingerprint() {
    return "text %08x".formatted(content.hashCode());
  }
}
