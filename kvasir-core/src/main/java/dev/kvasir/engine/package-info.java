/**
 * Continuous batching, independent of the device. {@link Scheduler} runs the steps of all {@link
 * Request}s on an {@link Engine}, one {@link Batch} at a time. {@link PrefixCache} shares prefixes
 * between requests.
 *
 * <p>May use {@code cache}, {@code profile}, {@code sampling}, {@code text} and {@code memory}.
 */
package dev.kvasir.engine;
