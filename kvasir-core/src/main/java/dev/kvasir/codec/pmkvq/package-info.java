/**
 * PM-KVQ: progressive mixed-precision quantization. Pages of {@link
 * dev.kvasir.codec.pmkvq.PmkvqCodec} start with 16-bit codes and are requantized to fewer bits when
 * memory is full, by {@link dev.kvasir.codec.pmkvq.RightShift}.
 *
 * <p>Uses the packages codec, codec.basis, codec.uniform, error, kernel, memory, page and profile.
 */
package dev.kvasir.codec.pmkvq;
