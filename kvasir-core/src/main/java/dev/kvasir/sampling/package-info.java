/**
 * Sampling of tokens from logits: {@link dev.kvasir.sampling.Sampler} applies the penalties,
 * filters and temperature of {@link dev.kvasir.SamplingOptions}. A {@link
 * dev.kvasir.sampling.TokenConstraint} can restrict the tokens.
 *
 * <p>This package uses no other package.
 */
package dev.kvasir.sampling;
