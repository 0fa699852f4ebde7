package dev.kvasir.store.beginning;

import dev.kvasir.store.tier.BlobTier.TierType;

/**
 * Where a beginning came from.
 *
 * @param tier the furthest that any of it came from, as a person knows it
 * @param place what kind of tier it is
 * @param tokens that need not be read
 * @param bytes that were fetched for them
 * @param nanos that it took, restoring included
 * @param readSeconds that reading them was expected to take; infinite where nobody knows
 */
public record FetchedPrefix(
    String tier, TierType tierType, int tokens, long bytes, long nanos, double prefillSeconds) {
  double secondsSaved() {
    return Double.isInfinite(prefillSeconds) ? 0 : prefillSeconds - nanos * 1e-9;
  }
}
