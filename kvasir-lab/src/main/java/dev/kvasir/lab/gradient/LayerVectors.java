package dev.kvasir.lab.gradient;

/** What a layer attends with: queries and keys after rotation, as a cache gets them. */
public record LayerVectors(
    int layer,
    int tokens,
    float[] queries, // (tokens, queryHeads, headDim)
    float[] keys, // (tokens, kvHeads, headDim)
    float[] values) {} // (tokens, kvHeads, headDim)
