package dev.kvasir.cache;

/**
 * The time that a sequence spent on quantization, during which its steps waited.
 *
 * @param learnNanos spent on learning from the blocks before they are quantized
 * @param quantizeNanos spent on quantizing them
 * @param requantizeNanos spent on narrowing quantized pages
 */
public record QuantizationTime(long learnNanos, long quantizeNanos, long requantizeNanos) {

  public long totalNanos() {
    return learnNanos + quantizeNanos + requantizeNanos;
  }

  public QuantizationTime minus(QuantizationTime earlier) {
    return new QuantizationTime(
        learnNanos - earlier.learnNanos,
        quantizeNanos - earlier.quantizeNanos,
        requantizeNanos - earlier.requantizeNanos);
  }
}
