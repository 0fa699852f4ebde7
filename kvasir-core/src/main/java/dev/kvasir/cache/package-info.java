/**
 * The KV cache of a sequence. {@link KvCache} is the interface, {@link PagedCache} its
 * implementation in host memory, and {@link CacheSpec} the specification that users type. A cache
 * consists of blocks: attention sinks, quantized pages, and the residual window in full precision.
 * {@link CacheSnapshot} is its serialized form.
 *
 * <p>May use {@code codec}, {@code page}, {@code kernel}, {@code memory} and {@code profile}.
 */
package dev.kvasir.cache;
