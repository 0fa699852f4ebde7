/**
 * Uniform codes, shared by several methods. {@link dev.kvasir.codec.uniform.UniformPage} holds the
 * codes of a layer, {@link dev.kvasir.codec.uniform.UniformReader} computes attention on them by
 * {@link dev.kvasir.codec.uniform.QuantizedMatmul}, and {@link
 * dev.kvasir.codec.uniform.UniformOptions} are the common options of a spec.
 *
 * <p>Uses the packages codec, error, kernel, memory and page.
 */
package dev.kvasir.codec.uniform;
