package dev.kvasir.lab.gradient;

import java.util.Optional;

/**
 * The keys, after rotation, and values of a layer with the gradients of the loss.
 *
 * @param longRange present if the visitor defines a far distance
 */
public record LayerGradients(
    int layer,
    int tokens,
    float[] keys, // (tokens, kvHeads, headDim)
    float[] values, // (tokens, kvHeads, headDim)
    float[] keyGradients, // (tokens, kvHeads, headDim)
    float[] valueGradients, // (tokens, kvHeads, headDim)
    Optional<LongRangeGradients> longRange) {}
