package dev.kvasir.lab.eval;

/**
 * What the longest sequence of a row took at its end.
 *
 * @param tokens that it held
 * @param kvBytes all that its cache had allocated
 * @param bitsPerValue those bytes, spread over the values of its keys and values
 * @param tokensPerSecond speed of generating after it, one sequence alone
 */
public record Footprint(int tokens, long kvBytes, double bitsPerValue, double tokensPerSecond) {}
