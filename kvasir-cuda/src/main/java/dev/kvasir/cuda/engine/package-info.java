/**
 * The inference engine on NVIDIA GPUs. {@link CudaProvider} offers it to the model loader, and
 * {@link CudaEngine} runs steps of a batch with {@link DeviceDecoder}. {@link DeviceCache} stores a
 * sequence in {@link SequencePages}. {@link DeviceContext} owns everything that an engine allocates
 * on a device.
 *
 * <p>May use all other packages of kvasir-cuda except those of single methods, and kvasir-core.
 */
package dev.kvasir.cuda.engine;
