/**
 * A tiered blob store for KV-cache data that outlives the process. {@link
 * dev.kvasir.store.StoreAddress} is the address of a tier as a user types it, and {@link
 * dev.kvasir.store.TieredStore} combines several tiers. The content of a blob is opaque here.
 *
 * <p>Uses the packages {@code store.tier}, {@code store.folder} and {@code store.redis}, and of
 * kvasir-core only {@code error} and {@code memory}.
 */
package dev.kvasir.store;
