package dev.kvasir.lab.eval;

import dev.kvasir.cache.CacheBytes;

/**
 * What a row's cache took at the end of the text, which all rows read to the same length.
 *
 * @param tokens that it held
 * @param kvBytes all that its cache had allocated
 * @param bitsPerValue those bytes, spread over the values of its keys and values
 * @param tokensPerSecond speed of generating after it, rows taking turns
 * @param parts the same bytes by what they are for
 */
public record Footprint(
    int tokens, long kvBytes, double bitsPerValue, double tokensPerSecond, CacheBytes parts) {}
