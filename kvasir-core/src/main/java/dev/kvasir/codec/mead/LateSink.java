package dev.kvasir.codec.mead;

/**
 * An unquantized token of a page.
 *
 * @param token index on the page
 */
record LateSink(int token, ExactRows rows) {}
