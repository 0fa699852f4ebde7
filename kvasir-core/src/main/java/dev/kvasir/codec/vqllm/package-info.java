/**
 * VQLLM: encodes groups of channels as sums of residual codebook rows. {@link
 * dev.kvasir.codec.vqllm.VqllmMethod} registers the method, {@link
 * dev.kvasir.codec.vqllm.VqllmProfile} holds the codebooks, and {@link
 * dev.kvasir.codec.vqllm.VqllmReader} computes attention on the codes.
 *
 * <p>Uses the packages codec, kernel, memory and profile.
 */
package dev.kvasir.codec.vqllm;
