package dev.kvasir.store;

import dev.kvasir.store.tier.BlobTier.TierType;

/**
 * Counters of one tier.
 *
 * @param tier its display name
 * @param hits blobs that were read
 * @param misses blobs that were requested and not returned, for any reason
 * @param bytesRead total size of the hits
 * @param readNanos total duration of all reads, including those without a hit
 * @param bytesWritten total size of the blobs that the tier accepted
 * @param failures of the disk or the server
 * @param dropped blobs that were not written because the queue was full or time ran out
 */
public record TierCounts(
    String tier,
    TierType type,
    long hits,
    long misses,
    long bytesRead,
    long readNanos,
    long bytesWritten,
    long failures,
    long dropped) {}
