package dev.kvasir.cache;

/**
 * Time that a sequence spent on packing, which its steps have waited for.
 *
 * @param learnNanos on learning from what was about to be packed
 * @param sealNanos on packing it
 * @param shrinkNanos on making packed pages narrower
 */
public record PackingTime(long learnNanos, long sealNanos, long shrinkNanos) {
  public static final PackingTime NONE = new PackingTime(0, 0, 0);

  public long totalNanos() {
    return learnNanos + sealNanos + shrinkNanos;
  }

  public PackingTime minus(PackingTime earlier) {
    return new PackingTime(
        learnNanos - earlier.learnNanos,
        sealNanos - earlier.sealNanos,
        shrinkNanos - earlier.shrinkNanos);
  }
}
