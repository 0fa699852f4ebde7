package dev.kvasir.chat;

import dev.kvasir.engine.PrefixCache;
import dev.kvasir.runtime.ModelSession;

/**
 * The part of a prompt that came from the prefix cache.
 *
 * @param tokens 0 if there was no hit
 * @param place where the prefix was: memory, disk or redis
 * @param fetchNanos time to fetch it; 0 from memory
 */
public record PrefixHit(int tokens, String place, long fetchNanos) {
  /** Returns the hit of a session that has prefilled nothing yet. */
  static PrefixHit of(ModelSession session, PrefixCache prefixes) {
    return prefixes
        .originOf(session.cache())
        .map(from -> new PrefixHit(session.cachedTokens(), from.place(), from.nanos()))
        .orElseGet(() -> new PrefixHit(session.cachedTokens(), "memory", 0));
  }
}
