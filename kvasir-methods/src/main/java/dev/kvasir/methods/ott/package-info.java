/**
 * OTT: KIVI codes, with the few tokens of the smallest keys left unquantized. {@link
 * dev.kvasir.methods.ott.OttMethod} registers the method, {@link
 * dev.kvasir.methods.ott.OutlierTokens} holds the unquantized tokens, and {@link
 * dev.kvasir.methods.ott.OttReader} computes attention on both.
 *
 * <p>Uses the packages codec, codec.uniform, kernel, memory and page.
 */
package dev.kvasir.methods.ott;
