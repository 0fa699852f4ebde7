package dev.kvasir.codec.commvq;

/**
 * The codebook of values, whose first and second rows are independent.
 *
 * @param mean (headDim)
 */
public record ValueCodebook(float[] mean, AdditiveStages stages) implements Codebook {}
