package dev.kvasir.lab.codebook;

import dev.kvasir.lab.codebook.VectorSample.Side;

/** Whose codebook it is. */
public record TrainedHead(Side side, int layer, int kvHead) {}
