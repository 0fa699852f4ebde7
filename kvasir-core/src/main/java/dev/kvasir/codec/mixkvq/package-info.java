/**
 * MixKVQ: mixed-precision keys. {@link dev.kvasir.codec.mixkvq.MixkvqCodec} divides the channels of
 * each block into {@link dev.kvasir.codec.mixkvq.Tiers} of 2, 4 or 16 bits by quantization error
 * and query magnitude. Values have 2 bits.
 *
 * <p>Uses the packages codec, codec.uniform, error, kernel, memory, page and profile.
 */
package dev.kvasir.codec.mixkvq;
