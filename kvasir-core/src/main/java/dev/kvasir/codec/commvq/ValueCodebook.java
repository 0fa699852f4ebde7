package dev.kvasir.codec.commvq;

/**
 * The codebook of values, whose first and second rows are free of each other.
 *
 * @param mean (headDim)
 */
public record ValueCodebook(float[] mean, AdditiveStages stages) implements Codebook {}
