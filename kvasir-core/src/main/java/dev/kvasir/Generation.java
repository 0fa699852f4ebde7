package dev.kvasir;

import dev.kvasir.cache.QuantizationTime;
import dev.kvasir.engine.Finish;

/**
 * The result of a generation.
 *
 * @param promptTokens prefilled tokens, without those cached before
 * @param quantization the part of its time spent on quantizing keys and values
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
