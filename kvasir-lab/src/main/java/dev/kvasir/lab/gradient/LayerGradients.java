package dev.kvasir.lab.gradient;

import java.util.Optional;

/**
 * A layer's keys, after rotation, and values, and how the loss changes with each of them.
 *
 * @param far there where the visitor said what is near
 */
public record LayerGradients(
    int layer,
    int tokens,
    float[] keys, // (tokens, kvHeads, headDim)
    float[] values, // (tokens, kvHeads, headDim)
    float[] keyGradients, // (tokens, kvHeads, headDim)
    float[] valueGradients, // (tokens, kvHeads, headDim)
    Optional<LongRangeGradients> longRange) {}
