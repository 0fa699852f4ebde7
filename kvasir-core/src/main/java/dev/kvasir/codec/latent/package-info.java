/**
 * Quantization for latent attention, with any method. {@link
 * dev.kvasir.codec.latent.LatentQuantizationConfig} lets the method quantize the latents and stores
 * the rotary channels of keys separately, with 8 or 16 bits.
 *
 * <p>Uses the packages codec, codec.uniform, error, kernel, memory and page.
 */
package dev.kvasir.codec.latent;
