/**
 * Memory for KV pages on a device. {@link PagePool} allocates reference-counted pages and {@link
 * PagePools} holds the pools of a device. {@link Fp16Page} and {@link PackedPage} are the layouts
 * that formats share; {@link PageTable}, {@link PrefillChunks} and {@link DequantizedPages} tell
 * kernels which pages a step reads.
 *
 * <p>May use {@code driver}.
 */
package dev.kvasir.cuda.memory;
