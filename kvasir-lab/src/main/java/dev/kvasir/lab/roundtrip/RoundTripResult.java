package dev.kvasir.lab.roundtrip;

import dev.kvasir.cache.CacheBytes;
import java.util.OptionalDouble;

/**
 * What a cache took and what it lost. Errors are relative: the Frobenius norm of the difference
 * over that of the input.
 *
 * @param bitsPerValue all that is allocated, over the values held; 0 where there are none
 * @param outputError of attention through the cache against exact attention over the input; empty
 *     without queries
 */
public record RoundTripResult(
    double bitsPerValue,
    CacheBytes bytes,
    double keyError,
    double valueError,
    OptionalDouble outputError) {}
