package dev.kvasir.lab.roundtrip;

import dev.kvasir.cache.CacheBytes;
import java.util.OptionalDouble;

/**
 * The size and errors of a cache. Errors are Frobenius norms of differences relative to the input.
 *
 * @param bitsPerValue allocated bits per element; 0 if there are none
 * @param outputError error of attention through the cache relative to exact attention; empty
 *     without queries
 */
public record RoundTripResult(
    double bitsPerValue,
    CacheBytes bytes,
    double keyError,
    double valueError,
    OptionalDouble outputError) {}
