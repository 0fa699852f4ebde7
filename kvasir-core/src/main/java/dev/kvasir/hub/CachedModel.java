package dev.kvasir.hub;

import java.nio.file.Path;
import java.time.Instant;

/**
 * A model in the cache.
 *
 * @param name as a user types it to load the model
 * @param path the file or folder to load
 * @param commit of the snapshot
 * @param bytes of its files
 * @param changedAt time of the last download
 */
public record CachedModel(String name, Path path, String commit, long bytes, Instant changedAt) {}
