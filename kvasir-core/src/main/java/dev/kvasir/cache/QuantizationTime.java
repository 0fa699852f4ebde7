package dev.kvasir.cache;

/**
 * Time that a sequence spent on packing, which its steps have waited for.
 *
 * @param learnNanos on learning from what was about to be packed
 * @param sealNanos on packing it
 * @param shrinkNanos on making packed pages narrower
 */
public record QuantizationTime(long learnNanos, long quantizeNanos, long requantizeNanos) {
  public static final QuantizationTime NONE = new QuantizationTime(0, 0, 0);

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
