package dev.kvasir.store.prefix;

import dev.kvasir.store.TierCounts;
import dev.kvasir.store.tier.BlobTier.TierSize;
import java.util.Optional;

/**
 * The current state of one tier of a store.
 *
 * @param bytesPerSecond recent read speed, or an estimate before the first read
 * @param size bytes in the tier, if known
 */
public record TierState(TierCounts counts, double bytesPerSecond, Optional<TierSize> size) {}
