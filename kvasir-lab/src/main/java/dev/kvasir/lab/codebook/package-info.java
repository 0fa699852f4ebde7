/**
 * Trains codebooks on the keys and values that a model computes for a text. {@link
 * dev.kvasir.lab.codebook.TextVectors} reads a {@link dev.kvasir.lab.codebook.VectorSample}. {@link
 * dev.kvasir.lab.codebook.CodebookTraining} trains the additive codebooks of CommVQ from it, and
 * {@link dev.kvasir.lab.codebook.ResidualTraining} those of VQLLM. The package uses the lab
 * packages calibrate, gradient, text and work, and the cache, codec, kernel and profile packages of
 * kvasir-core.
 */
package dev.kvasir.lab.codebook;
