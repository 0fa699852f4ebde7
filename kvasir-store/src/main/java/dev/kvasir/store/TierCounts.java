package dev.kvasir.store;

import dev.kvasir.store.tier.BlobTier.TierType;

/**
 * What has happened at a tier.
 *
 * @param tier its name, for people
 * @param hits blobs that were read
 * @param misses blobs that were asked for and not found, for whatever reason
 * @param bytesRead of hits
 * @param readNanos that reads have taken, also in vain
 * @param bytesWritten of blobs that the tier says it keeps
 * @param failures of the disk or the server
 * @param dropped blobs that were not written, because too much waited to be or there was no time
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
