package dev.kvasir.lab.gradient;

/**
 * Gradients of the loss through far queries only, for a layer's keys, after rotation, and values.
 * From the outputs of those queries on, the gradient flows through all queries.
 *
 * @param farDistance minimum distance in positions from a token to a far query
 */
public record LongRangeGradients(
    int farDistance,
    float[] keyGradients, // (tokens, kvHeads, headDim)
    float[] valueGradients) {} // (tokens, kvHeads, headDim)
