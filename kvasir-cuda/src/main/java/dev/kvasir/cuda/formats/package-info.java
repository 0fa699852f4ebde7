/**
 * Formats of KV pages on a device, and attention to them. A {@link PageFormat} describes the pages
 * of a quantization method and creates its kernels: {@link PageQuantizer}, {@link
 * AuxiliaryKernels}, {@link SequenceTables}. {@link PagedAttention} and {@link PrefillAttention}
 * read pages of any format.
 *
 * <p>Each method has a package here with a {@link PageFormatProvider}, which {@link
 * PageFormatRegistry} finds through the service loader; this package names none of them. It may use
 * {@code driver} and {@code memory}.
 */
package dev.kvasir.cuda.formats;
