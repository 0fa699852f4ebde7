package dev.kvasir.store.beginning;

/**
 * Where a beginning came from.
 *
 * @param tier the furthest that any of it came from, as a person knows it
 * @param tokens that need not be read
 * @param bytes that were fetched for them
 * @param nanos that it took, restoring included
 * @param readSeconds that reading them was expected to take; infinite where nobody knows
 */
public record Fetched(String tier, int tokens, long bytes, long nanos, double readSeconds) {
  double secondsSaved() {
    return Double.isInfinite(readSeconds) ? 0 : readSeconds - nanos * 1e-9;
  }
}
