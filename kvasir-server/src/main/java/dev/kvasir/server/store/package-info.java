/**
 * Persistence of conversations beyond memory and the process: {@link
 * dev.kvasir.server.store.ConversationStore} connects a model's prefix cache to the tiers of
 * kvasir-store.
 *
 * <p>This package uses {@code dev.kvasir.server.watch}, kvasir-store and kvasir-core.
 */
package dev.kvasir.server.store;
