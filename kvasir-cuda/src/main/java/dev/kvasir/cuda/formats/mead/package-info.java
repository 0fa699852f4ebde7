/**
 * Pages of Mead: residuals of predictions, with a width for each channel and tier. {@link
 * PartLayout} defines the bytes, {@link MeadPageQuantizer} packs blocks of two pages, {@link
 * MeadAttentionKernels} attends to their codes, and {@link DeviceTables} holds the profile of a
 * model on a device.
 *
 * <p>May use {@code driver}, {@code memory}, {@code formats} and the codec of the method in
 * kvasir-core.
 */
package dev.kvasir.cuda.formats.mead;
