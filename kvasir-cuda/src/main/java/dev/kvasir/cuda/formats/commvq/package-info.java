/**
 * Pages of CommVQ: indices of codebook rows. {@link CommvqFormat} describes {@link CodebookPage}s,
 * {@link CommvqPageQuantizer} searches their codes, and {@link CommvqScoreKernels} scores their
 * keys. {@link DeviceCodebooks} holds the codebooks of a model on a device.
 *
 * <p>May use {@code driver}, {@code memory}, {@code formats} and the codec of the method in
 * kvasir-core.
 */
package dev.kvasir.cuda.formats.commvq;
