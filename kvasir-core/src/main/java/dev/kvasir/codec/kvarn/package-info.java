/**
 * KVarN: rotates heads, normalizes the variance of tokens and channels, then quantizes keys per
 * channel and values per token. {@link dev.kvasir.codec.kvarn.KvarnMethod} registers the method,
 * {@link dev.kvasir.codec.kvarn.VarianceNormalizer} finds the factors, and {@link
 * dev.kvasir.codec.kvarn.KvarnReader} computes attention on the codes.
 *
 * <p>Uses the packages codec, codec.basis, codec.uniform, memory and page.
 */
package dev.kvasir.codec.kvarn;
