package dev.kvasir.codec.commvq;

/**
 * The codebook of a layer's keys in one KV head, or of its values in a group of KV heads: {@code
 * vector = mean + scale * sum of rows}, with a scale for each token. The mean may hold most of the
 * energy and costs nothing: attention uses it as one more vector per pass.
 */
public sealed interface Codebook permits KeyCodebook, ValueCodebook {
  /** Returns the mean (length), not to be modified. */
  float[] mean();

  /** Returns the rows whose sums approximate a vector without its mean, divided by its scale. */
  AdditiveStages stages();

  default long bytes() {
    return (long) Float.BYTES * mean().length + stages().bytes();
  }

  /** Returns the channels of a vector: those of a head, or of all heads of a group. */
  default int length() {
    return mean().length;
  }
}
