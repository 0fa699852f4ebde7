package dev.kvasir.server.store;

import dev.kvasir.store.TierCounts;
import dev.kvasir.store.tier.BlobTier.TierSize;
import java.util.Optional;

/**
 * A place of a store at this moment.
 *
 * @param bytesPerSecond at which blobs were read lately, or are expected to be
 * @param size of what lies there, where that can be known
 */
public record TierState(TierCounts counts, double bytesPerSecond, Optional<TierSize> size) {}
