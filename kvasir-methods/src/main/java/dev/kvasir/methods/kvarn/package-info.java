/**
 * KVarN: rotates heads, normalizes the variance of tokens and channels, then quantizes keys per
 * channel and values per token. {@link dev.kvasir.methods.kvarn.KvarnMethod} registers the method,
 * {@link dev.kvasir.methods.kvarn.VarianceNormalizer} finds the factors, and {@link
 * dev.kvasir.methods.kvarn.KvarnReader} computes attention on the codes.
 *
 * <p>Uses the packages codec, codec.basis, codec.uniform, memory and page.
 */
package dev.kvasir.methods.kvarn;
