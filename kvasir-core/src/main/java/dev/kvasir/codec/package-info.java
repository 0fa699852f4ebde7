/**
 * The interfaces of KV cache quantization. A {@link dev.kvasir.spi.QuantizationMethod}, found by
 * the {@link dev.kvasir.codec.MethodRegistry}, parses a spec into a {@link
 * dev.kvasir.codec.QuantizationConfig}. For a model this becomes a {@link
 * dev.kvasir.codec.CacheConfig} with a {@link dev.kvasir.codec.PageCodec}. A {@link
 * dev.kvasir.codec.SequenceCodec} turns blocks of tokens into a {@link dev.kvasir.codec.Page} per
 * layer, and a {@link dev.kvasir.codec.PageReader} computes attention on pages.
 *
 * <p>Each method has a package below this one. Uses the packages error, kernel, memory, page and
 * profile.
 */
package dev.kvasir.codec;
