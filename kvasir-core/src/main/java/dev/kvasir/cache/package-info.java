/**
 * The KV cache of a sequence. {@link KvCache} is the interface, {@link PagedCache} its
 * implementation in host memory, and {@link CacheSpec} the specification that users type. A cache
 * consists of blocks: attention sinks, quantized pages, and the residual window in full precision.
 * Attention reads a block through its {@link BlockView}. {@link CacheSnapshot} is the serialized
 * form of a cache.
 *
 * <p>May use {@code codec}, {@code page}, {@code kernel}, {@code memory} and {@code profile}.
 */
package dev.kvasir.cache;
