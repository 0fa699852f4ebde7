package dev.kvasir.lab.gradient;

/**
 * How the loss changes with what far queries alone read of a layer's keys, after rotation, and
 * values. The rest of the way back, from those queries' outputs to the loss, leads through all
 * queries.
 *
 * @param near positions by which a query must be later than a token to be far from it
 */
public record LongRangeGradients(
    int farDistance,
    float[] keyGradients, // (tokens, kvHeads, headDim)
    float[] valueGradients) {} // (tokens, kvHeads, headDim)
