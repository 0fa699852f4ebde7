/**
 * Pages of Mead on a device: residuals of predictions with a width for each channel and tier.
 *
 * @see dev.kvasir.codec.mead
 */
package dev.kvasir.cuda.formats.mead;
