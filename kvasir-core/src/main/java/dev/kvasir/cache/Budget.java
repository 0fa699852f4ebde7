package dev.kvasir.cache;

import dev.kvasir.kernel.Crew;

/**
 * Bytes that a cache may take, all in: codes, scales, window, sinks.
 *
 * @param spec the cache as the user typed it
 * @param step which pages become narrower when they do not fit
 * @param crew threads that make pages narrower
 */
public record Budget(String spec, long bytes, ShrinkStep step, Crew crew) {}
