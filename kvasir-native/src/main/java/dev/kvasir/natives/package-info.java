/**
 * Kernels in C for x86-64 and aarch64, called through the foreign function API. {@link
 * dev.kvasir.natives.NativeKernelProvider} offers them to the engine; {@code NativeLibrary} loads
 * the library of the platform, {@code CpuFeatures} detects its instruction sets, and {@code
 * NativeFunctions} links the functions.
 *
 * <p>Uses the packages format, kernel and page of the core module.
 */
package dev.kvasir.natives;
