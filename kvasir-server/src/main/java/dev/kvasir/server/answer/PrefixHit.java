package dev.kvasir.server.answer;

import dev.kvasir.Session;
import dev.kvasir.server.store.ConversationStore;
import dev.kvasir.store.beginning.FetchedPrefix;
import java.util.Optional;

/**
 * How much of a prompt was not read again.
 *
 * @param tokens 0 where nothing was known
 * @param place where they were: memory, disk or redis
 * @param nanos that it took to fetch them; 0 where they were in memory
 */
public record PrefixHit(int tokens, String place, long fetchNanos) {
  /** Of a session that has read nothing yet. */
  static PrefixHit of(Session session, Optional<ConversationStore> store) {
    Optional<FetchedPrefix> fetched = store.flatMap(one -> one.origin(session.cache()));
    return fetched
        .map(from -> new PrefixHit(session.cachedTokens(), from.tierType().word(), from.nanos()))
        .orElseGet(() -> new PrefixHit(session.cachedTokens(), "memory", 0));
  }
}
