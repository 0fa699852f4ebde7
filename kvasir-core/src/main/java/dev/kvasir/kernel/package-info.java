/**
 * The arithmetic of the engine. {@link dev.kvasir.kernel.Kernels} groups the kernels into families:
 * GEMM, float rows, dot products with packed codes, codebooks and rotations. {@link
 * dev.kvasir.kernel.ScalarKernels} defines every result to the last bit; {@link
 * dev.kvasir.spi.KernelProvider} lets other modules offer faster kernels, and {@link
 * dev.kvasir.kernel.KernelChoice} chooses among them.
 *
 * <p>The package also holds the operands of the kernels, such as {@link
 * dev.kvasir.kernel.QuantizedWeights} and {@link dev.kvasir.kernel.RowBlock}, and the {@link
 * dev.kvasir.kernel.WorkerPool} that runs them in parallel. It uses the packages page and error.
 */
package dev.kvasir.kernel;
