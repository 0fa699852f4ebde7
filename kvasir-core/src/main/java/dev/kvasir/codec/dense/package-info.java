/**
 * The dense cache: keys and values as fp16, bf16 or fp32 numbers. {@link
 * dev.kvasir.codec.dense.DenseMethod} registers it.
 *
 * <p>Uses the packages codec and kernel.
 */
package dev.kvasir.codec.dense;
