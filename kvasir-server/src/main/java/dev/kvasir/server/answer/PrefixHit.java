package dev.kvasir.server.answer;

import dev.kvasir.Session;
import dev.kvasir.server.store.ConversationStore;
import dev.kvasir.store.beginning.FetchedPrefix;
import java.util.Optional;

/**
 * The part of a prompt that came from the prefix cache.
 *
 * @param tokens 0 if there was no hit
 * @param place where the prefix was: memory, disk or redis
 * @param fetchNanos time to fetch it; 0 from memory
 */
public record PrefixHit(int tokens, String place, long fetchNanos) {
  /** Returns the hit of a session that has prefilled nothing yet. */
  static PrefixHit of(Session session, Optional<ConversationStore> store) {
    Optional<FetchedPrefix> fetched = store.flatMap(one -> one.origin(session.cache()));
    return fetched
        .map(from -> new PrefixHit(session.cachedTokens(), from.tierType().word(), from.nanos()))
        .orElseGet(() -> new PrefixHit(session.cachedTokens(), "memory", 0));
  }
}
