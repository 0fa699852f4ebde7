/**
 * SKVQ: reorders channels by magnitude, clips ranges, and quantizes per token. {@link
 * dev.kvasir.methods.skvq.SkvqMethod} registers the method, {@link
 * dev.kvasir.methods.skvq.ClippedRanges} chooses the clipping, and {@link
 * dev.kvasir.methods.skvq.SkvqPage.SkvqReader} computes attention on the codes.
 *
 * <p>Uses the packages codec, codec.uniform, kernel, memory and page.
 */
package dev.kvasir.methods.skvq;
