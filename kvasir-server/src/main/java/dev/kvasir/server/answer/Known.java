package dev.kvasir.server.answer;

import dev.kvasir.Session;
import dev.kvasir.server.store.ConversationStore;
import dev.kvasir.store.beginning.Fetched;
import java.util.Optional;

/**
 * How much of a prompt was not read again.
 *
 * @param tokens 0 where nothing was known
 * @param place where they were: memory, disk or redis
 * @param nanos that it took to fetch them; 0 where they were in memory
 */
public record Known(int tokens, String place, long nanos) {
  /** Of a session that has read nothing yet. */
  static Known of(Session session, Optional<ConversationStore> store) {
    Optional<Fetched> fetched = store.flatMap(one -> one.origin(session.cache()));
    return fetched
        .map(from -> new Known(session.remembered(), from.place().word(), from.nanos()))
        .orElseGet(() -> new Known(session.remembered(), "memory", 0));
  }
}
