package dev.kvasir.codec.mead;

/**
 * A token of a page that stays as it came.
 *
 * @param token its place on the page
 */
record LateSink(int token, ExactRows rows) {}
