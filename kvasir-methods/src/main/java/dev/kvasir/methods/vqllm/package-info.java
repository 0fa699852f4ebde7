/**
 * VQLLM: encodes groups of channels as sums of residual codebook rows. {@link
 * dev.kvasir.methods.vqllm.VqllmMethod} registers the method, {@link
 * dev.kvasir.methods.vqllm.VqllmProfile} holds the codebooks, and {@link
 * dev.kvasir.methods.vqllm.VqllmPage} computes attention on the codes.
 *
 * <p>Uses the packages codec, kernel, memory and profile.
 */
package dev.kvasir.methods.vqllm;
