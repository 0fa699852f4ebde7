package dev.kvasir.codec.commvq;

/**
 * What vectors of one layer and KV head are made of: {@code vector = mean + scale * sum of rows},
 * with a scale for each token. The mean is subtracted before anything else, because it may hold
 * most of the energy and costs nothing: it is one more vector that attention meets once.
 */
public sealed interface Codebook permits KeyCodebook, ValueCodebook {
  /** (headDim), not to be changed. */
  float[] mean();

  /** What is left of a vector without its mean, divided by its scale, is a sum of these. */
  AdditiveStages stages();

  /** Bytes that it takes. */
  default long bytes() {
    return (long) Float.BYTES * mean().length + stages().bytes();
  }

  default int headDim() {
    return mean().length;
  }
}
