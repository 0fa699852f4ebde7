/**
 * Prefix caching in a store: {@link dev.kvasir.store.prefix.StoredPrefixes} looks up prefixes by
 * their tokens and saves them for other sessions and processes. A prefix is one record and its
 * blocks, named by a hash of the identity and all tokens up to their end. {@link
 * dev.kvasir.store.prefix.ConversationStore} connects a model's prefix cache to the tiers.
 *
 * <p>Uses the store and its tiers, and the engine, cache, {@code stored} and {@code chat} packages
 * of kvasir-core. It does not know which kinds of tiers exist.
 */
package dev.kvasir.store.prefix;
