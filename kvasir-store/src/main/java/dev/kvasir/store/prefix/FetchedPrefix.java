package dev.kvasir.store.prefix;

import dev.kvasir.store.tier.BlobTier.TierType;

/**
 * Where a fetched prefix came from.
 *
 * @param tier display name of the furthest tier that contributed a blob
 * @param tierType type of that tier
 * @param tokens that need no prefill
 * @param bytes that were fetched
 * @param nanos that fetching and restoring took
 * @param prefillSeconds estimated prefill time of these tokens; infinite if unknown
 */
public record FetchedPrefix(
    String tier, TierType tierType, int tokens, long bytes, long nanos, double prefillSeconds) {
  double secondsSaved() {
    return Double.isInfinite(prefillSeconds) ? 0 : prefillSeconds - nanos * 1e-9;
  }
}
