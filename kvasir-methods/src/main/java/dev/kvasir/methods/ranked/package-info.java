/**
 * Mixed-precision quantization by received attention, shared by MiKV and ZipCache. {@link
 * dev.kvasir.methods.ranked.RecentQueries} records queries, {@link
 * dev.kvasir.methods.ranked.ReceivedAttention} ranks tokens by them, and {@link
 * dev.kvasir.methods.ranked.RankedPage} stores two bit widths.
 *
 * <p>Uses the packages codec, codec.uniform, error, kernel, memory and page.
 */
package dev.kvasir.methods.ranked;
