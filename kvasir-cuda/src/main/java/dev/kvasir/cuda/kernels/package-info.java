/**
 * Weights and the kernels of a decoder other than attention. {@link DeviceWeights} uploads the
 * weights of a model from a {@link WeightSource}, arranged by {@link WeightTiles}. {@link
 * DecoderKernels} runs embedding, norms, RoPE and activations, and {@link DeviceGemm} matrix
 * products.
 *
 * <p>May use {@code driver} and the model and format packages of kvasir-core.
 */
package dev.kvasir.cuda.kernels;
