/**
 * The contract of a store tier, {@link dev.kvasir.store.tier.BlobTier}, with the types of its
 * signatures: {@link dev.kvasir.store.tier.BlobName}, {@link dev.kvasir.store.tier.Deadline} and
 * {@link dev.kvasir.store.tier.FileMapper}. Uses no other package of Kvasir.
 */
package dev.kvasir.store.tier;
