/**
 * The CUDA driver, called through the foreign function API. {@link Device} detects GPUs and {@link
 * CudaContext} opens one; {@link CudaStream}, {@link CudaEvent} and {@link CudaGraph} order its
 * work. {@link DeviceMemory} is memory of a device, {@link KernelModule} loads the precompiled
 * kernels of {@code src/main/cuda}, and {@link Launch} runs one. {@link DeviceException} says why a
 * device cannot do something.
 *
 * <p>May use no other package of kvasir-cuda.
 */
package dev.kvasir.cuda.driver;
