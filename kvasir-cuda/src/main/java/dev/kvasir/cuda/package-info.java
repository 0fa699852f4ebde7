/**
 * The inference engine on NVIDIA GPUs. {@link CudaProvider} offers it to the model loader, and
 * {@link CudaEngine} runs steps of a batch with {@link DeviceDecoder}. {@link DeviceCache} stores a
 * sequence in pages of a {@link PageFormat}; {@link PagedAttention} and {@link PrefillAttention}
 * read them. {@link Driver}, {@link CudaContext} and {@link Launch} call the CUDA driver through
 * the foreign function API; kernels are precompiled from {@code src/main/cuda}.
 *
 * <p>May use all packages of kvasir-core.
 */
package dev.kvasir.cuda;
