package dev.kvasir.codec.commvq;

/**
 * The codebook of one layer and KV head: {@code vector = mean + scale * sum of rows}, with a scale
 * for each token. The mean may hold most of the energy and costs nothing: attention uses it as one
 * more vector per pass.
 */
public sealed interface Codebook permits KeyCodebook, ValueCodebook {
  /** Returns the mean (headDim), not to be modified. */
  float[] mean();

  /** Returns the rows whose sums approximate a vector without its mean, divided by its scale. */
  AdditiveStages stages();

  default long bytes() {
    return (long) Float.BYTES * mean().length + stages().bytes();
  }

  default int headDim() {
    return mean().length;
  }
}
