package dev.kvasir.cli.lab;

/**
 * What a calibration reads.
 *
 * @param name what messages call it
 */
record CalibrationText(String name, String words) {
  /** Tells it from other texts, for what is kept of a calibration that was broken off. */
  String mark() {
    return "text %08x".formatted(words.hashCode());
  }
}
