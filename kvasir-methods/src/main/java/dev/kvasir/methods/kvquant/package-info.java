/**
 * KVQuant: quantizes keys before RoPE to non-uniform levels fitted to each page, with outliers
 * stored separately. {@link dev.kvasir.methods.kvquant.KvquantMethod} registers the method, {@link
 * dev.kvasir.methods.kvquant.NonUniformCodes} holds the codes, and {@link
 * dev.kvasir.methods.kvquant.KvquantPage} stores a layer of a block.
 *
 * <p>Uses the packages codec, codec.uniform, kernel, memory and page.
 */
package dev.kvasir.methods.kvquant;
