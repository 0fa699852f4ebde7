package dev.kvasir;

import dev.kvasir.cache.QuantizationTime;
import dev.kvasir.engine.Finish;

/**
 * What came of a generation.
 *
 * @param promptTokens tokens read for it, without those that the session held before
 * @param packing that part of its time which went into packing keys and values
 * @param finish why it ended
 */
public record Generation(
    String text,
    int promptTokens,
    int generatedTokens,
    long promptNanos,
    long generationNanos,
    QuantizationTime quantization,
    Finish finish) {

  public double promptTokensPerSecond() {
    return promptNanos == 0 ? 0 : promptTokens * 1e9 / promptNanos;
  }

  public double generatedTokensPerSecond() {
    return generationNanos == 0 ? 0 : generatedTokens * 1e9 / generationNanos;
  }
}
