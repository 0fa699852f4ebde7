package dev.kvasir.lab.gradient;

/** The queries and keys of a layer, after rotation, and its values, as a cache receives them. */
public record LayerVectors(
    int layer,
    int tokens,
    float[] queries, // (tokens, queryHeads, headDim)
    float[] keys, // (tokens, kvHeads, headDim)
    float[] values) {} // (tokens, kvHeads, headDim)
