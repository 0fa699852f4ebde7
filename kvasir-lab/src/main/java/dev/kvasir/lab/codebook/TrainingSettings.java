package dev.kvasir.lab.codebook;

/**
 * How a codebook is trained.
 *
 * @param stages residual stages, 12 bits each
 * @param steps of expectation and maximization for each stage
 * @param nearest centres that a vector is shared between in a step; 1 for the nearest alone
 * @param hottest how far apart in distance, in parts of a typical residual, shares fall by e at the
 *     first step
 * @param coldest the same at the last step
 * @param refits rounds in which all stages are fitted together to the codes of all vectors
 * @param width of the beam that finds these codes
 */
public record TrainingSettings(
    int stages, int steps, int nearest, double hottest, double coldest, int refits, int width) {}
